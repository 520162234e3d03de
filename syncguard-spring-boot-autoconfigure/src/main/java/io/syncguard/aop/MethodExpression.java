package io.syncguard.aop;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * A SpEL expression over the arguments of one method: parsed once, its variables found once.
 */
final class MethodExpression {

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    /** What SpEL itself provides. */
    private static final Set<String> PREDEFINED = Set.of("root", "this");

    private final SpelExpression expression;
    private final Map<String, Integer> parameters;
    private final BeanResolver beans;

    /**
     * @param parameters the names of the parameters and their positions
     * @throws RuntimeException when it cannot be parsed, or names something that is no parameter
     */
    MethodExpression(String text, Map<String, Integer> parameters, BeanResolver beans) {
        this.expression = PARSER.parseRaw(text);
        this.beans = beans;
        this.parameters = Map.copyOf(parameters);
        requireParameters(variables(expression.getAST(), new HashSet<>()));
    }

    @Nullable
    Object value(MethodCall call) {
        StandardEvaluationContext context = new StandardEvaluationContext(call);
        context.setBeanResolver(beans);
        parameters.forEach((name, position) -> context.setVariable(name, call.getArgs()[position]));
        return expression.getValue(context);
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }

    private void requireParameters(Set<String> variables) {
        for (String variable : variables) {
            if (!parameters.containsKey(variable)) {
                throw new IllegalArgumentException("there is no parameter '" + variable + "', only "
                        + parameters.keySet().stream().sorted().toList()
                        + " (names need the compiler option -parameters)");
            }
        }
    }

    private static Set<String> variables(SpelNode node, Set<String> found) {
        String text = node.toStringAST();
        if (node instanceof VariableReference && !PREDEFINED.contains(text.substring(1))) {
            found.add(text.substring(1));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            variables(node.getChild(i), found);
        }
        return found;
    }
}
