package io.syncguard.aop;

import java.util.HashMap;
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
    private final BeanResolver beans;

    /** The positions of the parameters that it uses. */
    private final Map<String, Integer> parameters = new HashMap<>();

    /**
     * @param parameters the names of all parameters and their positions
     * @throws RuntimeException when it cannot be parsed, or names something that is no parameter
     */
    MethodExpression(String text, Map<String, Integer> parameters, BeanResolver beans) {
        this.expression = PARSER.parseRaw(text);
        this.beans = beans;
        collect(expression.getAST(), parameters);
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

    private void collect(SpelNode node, Map<String, Integer> known) {
        if (node instanceof VariableReference) {
            String name = node.toStringAST().substring(1);
            if (known.containsKey(name)) {
                parameters.put(name, known.get(name));
            } else if (!PREDEFINED.contains(name)) {
                throw new IllegalArgumentException("there is no parameter '" + name + "', only "
                        + known.keySet().stream().sorted().toList() + " (names need the compiler option -parameters)");
            }
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            collect(node.getChild(i), known);
        }
    }
}
