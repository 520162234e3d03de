package io.syncguard.aop;

import io.syncguard.LockSetupException;
import io.syncguard.MessageText;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.util.StringUtils;

/**
 * Finds names in an expression that no call can resolve, so that a forgotten quote or {@code #} fails the start. SpEL
 * takes a bare name for a property of {@code #root}.
 *
 * <p>{@link ExpressionTypes} checks the properties of arguments and of the elements of a list.
 */
final class ExpressionNameResolver {

    /** The variables that SpEL provides. */
    private static final Set<String> PREDEFINED = Set.of("root", "this");

    private static final Set<String> METHODS_OF_ROOT = Stream.of(MethodCall.class.getMethods())
            .map(method -> method.getName())
            .collect(Collectors.toSet());

    /** Names of parameters by their position: {@code a0}, {@code p0}. */
    private static final Pattern POSITION = Pattern.compile("[ap]\\d+");

    private static final String ROOT_HAS = "which has only method, args, target and targetClass";

    private final String attribute;
    private final String text;
    private final Map<String, Integer> parameters;
    private final Map<String, Integer> used = new HashMap<>();

    private ExpressionNameResolver(String attribute, String text, Map<String, Integer> parameters) {
        this.attribute = attribute;
        this.text = text;
        this.parameters = parameters;
    }

    /**
     * Finds the parameters that an expression uses, and their positions.
     *
     * @param parameters the names of all parameters and their positions
     * @throws LockSetupException when no call can resolve a name
     */
    static Map<String, Integer> parametersOf(
            String attribute, SpelExpression expression, Map<String, Integer> parameters) {
        ExpressionNameResolver names =
                new ExpressionNameResolver(attribute, expression.getExpressionString(), parameters);
        names.visit(expression.getAST(), true);
        return names.used;
    }

    /**
     * @param onRoot whether a bare name belongs to {@code #root} rather than to the element of a list
     */
    private void visit(SpelNode node, boolean onRoot) {
        if (onRoot && node instanceof PropertyOrFieldReference property && !isOfRoot(property)) {
            throw bareName(property.getName());
        }
        if (onRoot && node instanceof MethodReference method && !METHODS_OF_ROOT.contains(method.getName())) {
            throw LockSetupException.invalid(
                    "there is no method '" + method.getName() + "' of #root, " + ROOT_HAS,
                    "For a method of this object, write #root.target." + method.getName() + "(...)",
                    "For a method of a bean, write @bean." + method.getName() + "(...)");
        }
        if (node instanceof VariableReference) {
            use(node.toStringAST().substring(1));
        }
        if (node instanceof FunctionReference) {
            throw LockSetupException.invalid(
                    "there are no functions such as '" + node.toStringAST() + "'",
                    "For a method of this object, write #root.target."
                            + node.toStringAST().substring(1));
        }
        visitChildren(node, onRoot);
    }

    private void visitChildren(SpelNode node, boolean onRoot) {
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            if (node instanceof CompoundExpression && i > 0) {
                requireOfRoot(node.getChild(i - 1), child, onRoot);
                visitChildren(child, onRoot && !(child instanceof Projection || child instanceof Selection));
            } else if (!isLiteralName(node, i)) {
                visit(child, onRoot && !(node instanceof Projection || node instanceof Selection));
            }
        }
    }

    /** Checks {@code #root.x} and, outside of lists, {@code #this.x}. */
    private void requireOfRoot(SpelNode owner, SpelNode child, boolean onRoot) {
        boolean ofRoot = owner instanceof VariableReference
                && (owner.toStringAST().equals("#root")
                        || onRoot && owner.toStringAST().equals("#this"));
        if (ofRoot && child instanceof PropertyOrFieldReference property && !isOfRoot(property)) {
            throw LockSetupException.invalid(
                    "there is no '" + property.getName() + "' of #root, " + ROOT_HAS,
                    "Write a parameter with #: " + listed(parameters.keySet()));
        }
    }

    /**
     * SpEL reads a bare name in an index or before a colon as a text: {@code #map[name]}, <code>{name: #id}</code>.
     */
    private static boolean isLiteralName(SpelNode node, int child) {
        return node.getChild(child) instanceof PropertyOrFieldReference
                && (node instanceof Indexer || node instanceof InlineMap && child % 2 == 0);
    }

    private static boolean isOfRoot(PropertyOrFieldReference property) {
        return METHODS_OF_ROOT.contains("get" + StringUtils.capitalize(property.getName()));
    }

    private void use(String variable) {
        Integer position = parameters.get(variable);
        if (position != null) {
            used.put(variable, position);
        } else if (!PREDEFINED.contains(variable)) {
            throw unknown("", variable, parameters.keySet());
        }
    }

    /** @param start the start of the message */
    static LockSetupException unknown(String start, String name, Set<String> parameters) {
        String there = start + "there is no parameter '" + name + "', only " + listed(parameters);
        return areNameless(parameters)
                ? LockSetupException.invalid(
                        there + ": the class was compiled without the names of its parameters",
                        "Compile with -parameters: <compilerArgs><arg>-parameters</arg></compilerArgs> of the"
                                + " maven-compiler-plugin, options.compilerArgs.add(\"-parameters\") in Gradle",
                        "Use the position of the parameter: #p0 is the first one")
                : LockSetupException.invalid(
                        there, MessageText.nextSteps("#" + name, listed(parameters), "Correct the name #" + name));
    }

    /** Whether the names of the parameters are unknown, so that only their positions identify them. */
    static boolean areNameless(Set<String> parameters) {
        return !parameters.isEmpty()
                && parameters.stream().allMatch(name -> POSITION.matcher(name).matches());
    }

    private LockSetupException bareName(String name) {
        // A text that consists only of names and operators, such as order-import, is probably one constant.
        boolean whole = text.matches("[\\w .:/-]+");
        String constant = whole ? text : name;
        String named = whole && attribute.equals("key") ? ", or name = \"" + constant + "\"" : "";
        String parameter = parameters.containsKey(name) ? "write the parameter #" + name : "begin its name with #";
        return LockSetupException.invalid(
                "'" + name + "' is neither a constant nor a parameter",
                "For a constant, write \"'" + constant + "'\", in quotes" + named,
                "For a parameter, " + parameter + "; there are " + listed(parameters.keySet()));
    }

    private static List<String> listed(Set<String> parameters) {
        return parameters.stream().sorted().map(name -> "#" + name).toList();
    }
}
