package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ExpressionException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelEvaluationException;
import org.springframework.expression.spel.SpelMessage;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * A SpEL expression over the arguments of one method. It is parsed, and its variables are resolved, once.
 */
final class MethodExpression {

    private static final SpelExpressionParser PARSER = new SpelExpressionParser();

    private final String attribute;
    private final SpelExpression expression;
    private final BeanResolver beans;

    /** The positions of the parameters that it uses. */
    private final Map<String, Integer> parameters;

    /** The names of the beans that it uses. */
    private final Set<String> beanNames;

    /**
     * @param attribute the attribute of the annotation that contains the text
     * @throws RuntimeException when it cannot be parsed, or contains a name that no call can resolve
     */
    MethodExpression(String attribute, String text, MethodParameters method, BeanResolver beans) {
        this.attribute = attribute;
        this.expression = parse(text);
        this.beans = beans;
        ExpressionCheck check = new ExpressionCheck(attribute, expression, method);
        this.parameters = check.parameters();
        this.beanNames = check.beans();
        TemplateText.requireNoneIn(expression.getAST(), method.names());
    }

    Set<String> beanNames() {
        return beanNames;
    }

    private static SpelExpression parse(String text) {
        try {
            return PARSER.parseRaw(text);
        } catch (ParseException ex) {
            LockSetupException mistake = TemplateText.mistakeIn(text);
            throw mistake == null
                    ? LockSetupException.invalid(
                            "'" + text + "' is not a valid expression: " + withoutCode(ex) + " (character "
                                    + (ex.getPosition() + 1) + ")",
                            "Correct the expression")
                    : mistake;
        }
    }

    String attribute() {
        return attribute;
    }

    /**
     * @throws EvaluationException when it has no value for this call; {@link #explain} explains why
     */
    @Nullable
    Object value(MethodCall call) {
        return value(new StandardEvaluationContext(call), call);
    }

    /**
     * Like {@link #value(MethodCall)}, for a value that becomes a text.
     *
     * @param operands receives the values that the expression joins to texts
     */
    @Nullable
    Object value(MethodCall call, KeyTextConverter operands) {
        StandardEvaluationContext context = new StandardEvaluationContext(call);
        context.setTypeConverter(operands);
        return value(context, call);
    }

    private @Nullable Object value(StandardEvaluationContext context, MethodCall call) {
        context.setBeanResolver(beans);
        parameters.forEach((name, position) -> context.setVariable(name, call.getArgs()[position]));
        return expression.getValue(context);
    }

    /**
     * Returns an expression for a property of the value, with {@code %s} for the name of the property; {@code null} if
     * the value is neither an argument nor an element of one.
     */
    @Nullable
    String reference(Object value, MethodCall call) {
        for (Map.Entry<String, Integer> parameter : parameters.entrySet()) {
            Object argument = call.getArgs()[parameter.getValue()];
            if (argument == value) {
                return "#" + parameter.getKey() + ".%s";
            }
            if (KeyText.withoutOptional(argument) == value) {
                return "#" + parameter.getKey() + ".get().%s";
            }
            List<@Nullable Object> elements = KeyText.elements(argument);
            if (elements != null && elements.stream().anyMatch(element -> element == value)) {
                return "#" + parameter.getKey() + ".![%s]";
            }
        }
        return null;
    }

    /** Whether the expression read a member of null, because the data of the call lacks a value. */
    static boolean isOfNull(EvaluationException error) {
        return error instanceof SpelEvaluationException ex
                && (ex.getMessageCode() == SpelMessage.PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL
                        || ex.getMessageCode() == SpelMessage.METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED
                        || ex.getMessageCode() == SpelMessage.CANNOT_INDEX_INTO_NULL_VALUE
                        || isOverNull(ex));
    }

    /** A projection or selection of null. */
    private static boolean isOverNull(SpelEvaluationException ex) {
        return (ex.getMessageCode() == SpelMessage.PROJECTION_NOT_SUPPORTED_ON_TYPE
                        || ex.getMessageCode() == SpelMessage.INVALID_TYPE_FOR_SELECTION)
                && insert(ex, 0).equals("null");
    }

    /** Explains the failure and the next step without the words of SpEL. */
    static String explain(EvaluationException failure) {
        if (failure instanceof SpelEvaluationException known) {
            String name = insert(known, 0);
            String owner = withoutInternals(insert(known, 1));
            return switch (known.getMessageCode()) {
                case PROPERTY_OR_FIELD_NOT_READABLE_ON_NULL -> onNull("there is no '" + name + "' of null");
                case METHOD_CALL_ON_NULL_OBJECT_NOT_ALLOWED -> onNull("'" + name + "' cannot be called on null");
                case CANNOT_INDEX_INTO_NULL_VALUE -> onNull("null has no elements");
                case PROPERTY_OR_FIELD_NOT_READABLE ->
                    "there is no public '" + name + "' in " + owner
                            + ". Correct the name, or put it in quotes if it is a constant";
                case METHOD_NOT_FOUND ->
                    "there is no public method '" + name + "' in " + owner + ". Correct the name or its arguments";
                case PROJECTION_NOT_SUPPORTED_ON_TYPE, INVALID_TYPE_FOR_SELECTION ->
                    isOverNull(known)
                            ? onNull("null has no elements")
                            : withoutCode(failure) + ". Correct the expression or its arguments";
                default -> withoutCode(failure) + ". Correct the expression or its arguments";
            };
        }
        return withoutCode(failure);
    }

    @Override
    public String toString() {
        return expression.getExpressionString();
    }

    private static String onNull(String what) {
        return what + ". Pass a value, or give the expression a default (with ?. and ?:)";
    }

    /** An insert of SpEL's message: first the missing name, then the type. */
    private static String insert(SpelEvaluationException failure, int position) {
        @Nullable Object @Nullable [] inserts = failure.getInserts();
        return inserts == null || inserts.length <= position ? "it" : String.valueOf(inserts[position]);
    }

    private static String withoutCode(ExpressionException failure) {
        return withoutInternals(failure.getSimpleMessage().replaceFirst("^EL\\d+E: ?", ""));
    }

    private static String withoutInternals(String message) {
        return message.replace(MethodCall.class.getName(), "#root");
    }
}
