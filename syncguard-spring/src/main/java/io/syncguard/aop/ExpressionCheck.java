package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.StringUtils;

/**
 * Visits each node of an expression once. It refuses names that no call can resolve, so that a forgotten quote or
 * {@code #} fails the start, and collects the parameters and beans that the expression uses.
 */
final class ExpressionCheck {

    /** The owner of a bare name, which SpEL takes for a property of {@code #root}. */
    private static final ResolvableType ROOT = ResolvableType.forClass(MethodCall.class);

    private static final Set<String> METHODS_OF_ROOT = Arrays.stream(MethodCall.class.getMethods())
            .map(method -> method.getName())
            .collect(Collectors.toSet());

    private static final String ROOT_HAS = "which has only method, args, target and targetClass";

    private final String attribute;
    private final String text;
    private final MethodParameters parameters;
    private final Map<String, Integer> used = new HashMap<>();
    private final Set<String> beans = new LinkedHashSet<>();

    /**
     * @param attribute the attribute of the annotation that contains the expression
     * @throws LockSetupException when no call can resolve a name
     */
    ExpressionCheck(String attribute, SpelExpression expression, MethodParameters parameters) {
        this.attribute = attribute;
        this.text = expression.getExpressionString();
        this.parameters = parameters;
        typeOf(expression.getAST(), new Scope(ROOT, ROOT));
    }

    /** The parameters that the expression uses, and their positions. */
    Map<String, Integer> parameters() {
        return used;
    }

    /** The names of the beans that the expression uses. */
    Set<String> beans() {
        return beans;
    }

    /**
     * The types against which SpEL resolves names; {@code null} for one that is known only in the call.
     *
     * @param active the owner of a name, which is also {@code #this}
     * @param root the owner of a bare name in the arguments of a method: the element of a projection, or the call
     */
    private record Scope(
            @Nullable ResolvableType active, @Nullable ResolvableType root) {

        Scope on(@Nullable ResolvableType owner) {
            return new Scope(owner, root);
        }

        Scope ofArguments() {
            return new Scope(root, root);
        }
    }

    /** The type of the value of a node; {@code null} if it is known only in the call. */
    private @Nullable ResolvableType typeOf(SpelNode node, Scope scope) {
        if (node instanceof CompoundExpression) {
            ResolvableType owner = typeOf(node.getChild(0), scope);
            for (int i = 1; i < node.getChildCount(); i++) {
                owner = typeOfMember(node.getChild(i), scope.on(owner));
            }
            return owner;
        }
        if (scope.active == ROOT
                && node instanceof PropertyOrFieldReference property
                && !isOfRoot(property.getName())) {
            throw bareName(property.getName());
        }
        if (node instanceof VariableReference) {
            return typeOfVariable(node.toStringAST().substring(1), scope);
        }
        if (node instanceof BeanReference) {
            // A name with dots stands in quotes.
            beans.add(node.toStringAST().replaceFirst("^@", "").replace("'", ""));
            return null;
        }
        if (node instanceof FunctionReference) {
            throw LockSetupException.invalid(
                    "there are no functions such as '" + node.toStringAST() + "'",
                    "For a method of this object, write #root.target."
                            + node.toStringAST().substring(1));
        }
        if (node instanceof TypeReference || node instanceof ConstructorReference) {
            parameters.requireClass(node.getChild(0).toStringAST());
            visitChildren(node, node instanceof ConstructorReference ? 1 : node.getChildCount(), scope.ofArguments());
            return null;
        }
        return typeOfMember(node, scope);
    }

    private @Nullable ResolvableType typeOfMember(SpelNode node, Scope scope) {
        if (node instanceof PropertyOrFieldReference property) {
            return typeOfProperty(property, scope.active);
        }
        if (node instanceof MethodReference method) {
            visitChildren(node, 0, scope.ofArguments());
            return typeOfMethod(method, scope.active);
        }
        if (node instanceof Projection || node instanceof Selection) {
            return typeOfElements(node, scope);
        }
        if (node instanceof Indexer) {
            // SpEL reads a bare name in an index as a text: #map[name].
            if (!(node.getChild(0) instanceof PropertyOrFieldReference)) {
                typeOf(node.getChild(0), new Scope(ROOT, ROOT));
            }
            return scope.active == null ? null : Members.indexed(scope.active);
        }
        visitChildren(node, 0, scope);
        return null;
    }

    private @Nullable ResolvableType typeOfVariable(String name, Scope scope) {
        if (name.equals("this")) {
            return scope.active;
        }
        if (name.equals("root")) {
            return ROOT;
        }
        Integer position = parameters.positions().get(name);
        if (position == null) {
            throw ParameterNames.unknown("", name, parameters.names());
        }
        used.put(name, position);
        return known(() -> parameters.type(position));
    }

    private @Nullable ResolvableType typeOfProperty(PropertyOrFieldReference property, @Nullable ResolvableType owner) {
        String name = property.getName();
        if (owner == ROOT && !isOfRoot(name)) {
            throw LockSetupException.invalid(
                    "there is no '" + name + "' of #root, " + ROOT_HAS,
                    "Write a parameter with #: " + ParameterNames.listed(parameters.names()));
        }
        return owner == null ? null : known(() -> Members.property(owner, name, property.isNullSafe()));
    }

    private static @Nullable ResolvableType typeOfMethod(MethodReference method, @Nullable ResolvableType owner) {
        String name = method.getName();
        if (owner == ROOT && !METHODS_OF_ROOT.contains(name)) {
            throw LockSetupException.invalid(
                    "there is no method '" + name + "' of #root, " + ROOT_HAS,
                    "For a method of this object, write #root.target." + name + "(...)",
                    "For a method of a bean, write @bean." + name + "(...)");
        }
        return owner == null
                ? null
                : known(() -> Members.method(owner, name, method.getChildCount(), method.isNullSafe()));
    }

    /** A class that a member names may be missing. The call may not need that member. */
    private static @Nullable ResolvableType known(Supplier<@Nullable ResolvableType> type) {
        try {
            return type.get();
        } catch (LinkageError | TypeNotPresentException ex) {
            return null;
        }
    }

    private @Nullable ResolvableType typeOfElements(SpelNode node, Scope scope) {
        ResolvableType element = scope.active == null ? null : Members.element(scope.active);
        ResolvableType projected = typeOf(node.getChild(0), new Scope(element, element));
        if (node instanceof Selection && !node.toStringAST().startsWith("?")) {
            return element;
        }
        ResolvableType each = node instanceof Selection ? element : projected;
        return each == null ? null : ResolvableType.forClassWithGenerics(Iterable.class, each);
    }

    private void visitChildren(SpelNode node, int first, Scope scope) {
        for (int i = first; i < node.getChildCount(); i++) {
            // SpEL reads a bare name before a colon as a text: {name: #id}.
            boolean literal =
                    node instanceof InlineMap && i % 2 == 0 && node.getChild(i) instanceof PropertyOrFieldReference;
            if (!literal) {
                typeOf(node.getChild(i), scope);
            }
        }
    }

    private static boolean isOfRoot(String property) {
        return METHODS_OF_ROOT.contains("get" + StringUtils.capitalize(property));
    }

    private LockSetupException bareName(String name) {
        // A text that consists only of names and operators, such as order-import, is probably one constant.
        boolean whole = text.matches("[\\w .:/-]+");
        String constant = whole ? text : name;
        String named = whole && attribute.equals("key") ? ", or name = \"" + constant + "\"" : "";
        String parameter = parameters.names().contains(name) ? "write the parameter #" + name : "begin its name with #";
        return LockSetupException.invalid(
                "'" + name + "' is neither a constant nor a parameter",
                "For a constant, write \"'" + constant + "'\", in quotes" + named,
                "For a parameter, " + parameter + "; there are " + ParameterNames.listed(parameters.names()));
    }
}
