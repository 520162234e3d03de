package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.Assign;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.OpDec;
import org.springframework.expression.spel.ast.OpInc;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.ClassUtils;

/**
 * Finds properties, methods and classes in an expression that exist in no call. A subclass may have a property that its
 * class lacks, so only final and sealed classes are checked.
 */
final class ExpressionTypes {

    private static final KnownType ROOT = KnownType.of(MethodCall.class);

    private final Map<String, ResolvableType> variables;
    private final Set<ClassLoader> classLoaders;

    /** Evaluates the names of classes, which need no call. */
    private final ExpressionState names = new ExpressionState(new StandardEvaluationContext());

    /**
     * @param variables the types of the parameters
     * @param classLoaders the loaders in which a call may find the classes of an expression
     */
    private ExpressionTypes(Map<String, ResolvableType> variables, Set<ClassLoader> classLoaders) {
        this.variables = variables;
        this.classLoaders = classLoaders;
    }

    /** @throws LockSetupException when no call can resolve a property, a method or a class */
    static void check(SpelNode expression, Map<String, ResolvableType> variables, Set<ClassLoader> classLoaders) {
        if (assigns(expression)) {
            return;
        }
        try {
            new ExpressionTypes(variables, classLoaders).typeOf(expression, new Scope(ROOT, ROOT));
        } catch (LinkageError | TypeNotPresentException ex) {
            // The class of a member is missing. The call may not need that member.
        }
    }

    private static boolean assigns(SpelNode node) {
        if (node instanceof Assign || node instanceof OpInc || node instanceof OpDec) {
            return true;
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            if (assigns(node.getChild(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * The types against which SpEL resolves names.
     *
     * @param active the owner of a bare name, which is also {@code #this}
     * @param root the owner of a bare name in the arguments of a method: the element of a projection, or the call
     */
    private record Scope(
            @Nullable KnownType active, @Nullable KnownType root) {

        Scope on(@Nullable KnownType owner) {
            return new Scope(owner, root);
        }

        Scope ofArguments() {
            return new Scope(root, root);
        }
    }

    /** The type of the value of a node; {@code null} if it is known only in the call. */
    private @Nullable KnownType typeOf(SpelNode node, Scope scope) {
        if (node instanceof CompoundExpression) {
            KnownType owner = typeOf(node.getChild(0), scope);
            for (int i = 1; i < node.getChildCount(); i++) {
                owner = typeOf(node.getChild(i), scope.on(owner));
            }
            return owner;
        }
        if (node instanceof PropertyOrFieldReference property) {
            return scope.active == null ? null : scope.active.property(property.getName(), property.isNullSafe());
        }
        if (node instanceof MethodReference method) {
            typesWithin(node, scope.ofArguments());
            return scope.active == null
                    ? null
                    : scope.active.method(method.getName(), node.getChildCount(), method.isNullSafe());
        }
        if (node instanceof Projection || node instanceof Selection) {
            return typeOfElements(node, scope);
        }
        if (node instanceof Indexer indexer) {
            return typeOfIndexed(indexer, scope);
        }
        return node instanceof TypeReference || node instanceof ConstructorReference
                ? typeOfClass(node, scope)
                : typeOfValue(node, scope);
    }

    private @Nullable KnownType typeOfElements(SpelNode node, Scope scope) {
        KnownType element = scope.active == null ? null : scope.active.element();
        KnownType projected = typeOf(node.getChild(0), new Scope(element, element));
        if (node instanceof Selection && !node.toStringAST().startsWith("?")) {
            return element;
        }
        KnownType each = node instanceof Selection ? element : projected;
        boolean ofArray = scope.active == null || scope.active.type().isArray();
        return each == null || each.ofClass() || ofArray
                ? null
                : KnownType.of(ResolvableType.forClassWithGenerics(Iterable.class, each.type()));
    }

    private @Nullable KnownType typeOfIndexed(Indexer node, Scope scope) {
        SpelNode index = node.getChild(0);
        if (scope.active != null
                && scope.active.isIndexedByProperty()
                && index instanceof StringLiteral literal
                && literal.getLiteralValue().getValue() instanceof String property) {
            return scope.active.property(property, node.isNullSafe());
        }
        if (!(index instanceof PropertyOrFieldReference)) {
            typeOf(index, new Scope(ROOT, ROOT));
        }
        return scope.active == null ? null : scope.active.indexed();
    }

    private @Nullable KnownType typeOfClass(SpelNode node, Scope scope) {
        Class<?> type =
                findType(String.valueOf(node.getChild(0).getTypedValue(names).getValue()));
        if (node instanceof TypeReference) {
            return node.toStringAST().contains("[]") ? KnownType.of(Class.class) : KnownType.ofClass(type);
        }
        typesWithin(node, scope.ofArguments());
        return null;
    }

    private @Nullable KnownType typeOfValue(SpelNode node, Scope scope) {
        if (node instanceof VariableReference) {
            String name = node.toStringAST().substring(1);
            ResolvableType variable = variables.get(name);
            return name.equals("this")
                    ? scope.active
                    : name.equals("root") ? ROOT : variable == null ? null : KnownType.of(variable);
        }
        if (node instanceof Literal literal && !(node instanceof NullLiteral)) {
            return KnownType.of(
                    Objects.requireNonNull(literal.getLiteralValue().getValue()).getClass());
        }
        typesWithin(node, scope);
        return null;
    }

    private void typesWithin(SpelNode node, Scope scope) {
        for (int i = 0; i < node.getChildCount(); i++) {
            boolean literalName =
                    node instanceof InlineMap && i % 2 == 0 && node.getChild(i) instanceof PropertyOrFieldReference;
            boolean className = node instanceof ConstructorReference && i == 0;
            if (!literalName && !className) {
                typeOf(node.getChild(i), scope);
            }
        }
    }

    private Class<?> findType(String name) {
        Class<?> primitive = ClassUtils.resolvePrimitiveClassName(name);
        if (primitive != null) {
            return primitive;
        }
        for (ClassLoader loader : classLoaders) {
            try {
                return new StandardTypeLocator(loader).findType(name);
            } catch (EvaluationException | LinkageError ex) {
                // Another loader may have the class.
            }
        }
        throw LockSetupException.invalid(
                "there is no class '" + name + "'", "Correct the name, with its package unless that is java.lang");
    }
}
