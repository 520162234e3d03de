package io.syncguard.aop;

import io.syncguard.LockSetupException;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.StringLiteral;

/** Refuses a constant that looks like a template. It would stay text, so all calls would share one key. */
final class TemplateText {

    private static final String WORD = "[\\p{L}_][\\p{L}\\p{N}_]*";

    /**
     * <code>${property}</code>, <code>#{expression}</code>, {@code #name}, <code>{0}</code>, <code>{}</code>,
     * <code>{name.property}</code>, {@code %s}.
     */
    private static final Pattern TEMPLATE = Pattern.compile("\\$\\{([^}]*)}?|#\\{([^}]*)}?|#(NAME)"
            .concat("|\\{\\s*(\\d*)\\s*(?:[,:][^}]*)?}|\\{\\s*((NAME)(?:\\??\\.NAME|\\[[^]}]*])*)[^}]*}")
            .concat("|%(?:\\d+\\$|<)?[-#+0,(]*\\d*[sdxSX](?!\\p{L})")
            .replace("NAME", WORD));

    private static final int PROPERTY = 1;
    private static final int EXPRESSION = 2;
    private static final int NAME = 3;
    private static final int POSITION = 4;
    private static final int PATH_IN_BRACES = 5;
    private static final int NAME_IN_BRACES = 6;

    private static final Set<String> PREDEFINED = Set.of("root", "this");

    private TemplateText() {}

    /**
     * @param name an attribute whose placeholders have been resolved
     * @param parameters the names of the parameters of the method
     */
    static String requireNoneInName(String name, Set<String> parameters) {
        MatchResult found = find(name, parameters, true);
        if (found == null) {
            return name;
        }
        String property = found.group(PROPERTY);
        throw staysText(
                found,
                parameters,
                property == null
                        ? "Put what differs between calls into 'key': key = \"" + expression(found) + "\""
                        : "Define the property " + property);
    }

    /** Returns the mistake of an expression that cannot be parsed because it contains a template; else {@code null}. */
    static @Nullable LockSetupException mistakeIn(String expression) {
        return TEMPLATE.matcher(expression)
                .results()
                .filter(found -> found.group(PROPERTY) != null || found.group(EXPRESSION) != null)
                .findFirst()
                .map(found -> LockSetupException.invalid(
                        "it contains '" + found.group() + "', but is one expression as a whole", asPart(found)))
                .orElse(null);
    }

    /** Arguments of methods and constructors are not checked. */
    static void requireNoneIn(SpelNode node, Set<String> parameters) {
        requireNoneIn(node, parameters, true);
    }

    /** @param all whether to refuse also what formatters and regular expressions read */
    private static void requireNoneIn(SpelNode node, Set<String> parameters, boolean all) {
        if (node instanceof StringLiteral literal) {
            MatchResult found = find(String.valueOf(literal.getLiteralValue().getValue()), parameters, all);
            if (found != null) {
                throw staysText(found, parameters, asPart(found));
            }
        }
        if (node instanceof MethodReference || node instanceof ConstructorReference) {
            return;
        }
        boolean read = node instanceof CompoundExpression || node instanceof Operator && !(node instanceof OpPlus);
        for (int i = 0; i < node.getChildCount(); i++) {
            requireNoneIn(node.getChild(i), parameters, all && !read);
        }
    }

    private static @Nullable MatchResult find(String text, Set<String> parameters, boolean all) {
        return TEMPLATE.matcher(text)
                .results()
                .filter(found -> isTemplate(found, parameters, all))
                .findFirst()
                .orElse(null);
    }

    /**
     * A number sign alone makes no template, and neither do braces around a Redis hash tag. If the names of the
     * parameters are unknown, any name may be one of them.
     */
    private static boolean isTemplate(MatchResult found, Set<String> parameters, boolean all) {
        if (found.group(PROPERTY) != null || found.group(EXPRESSION) != null) {
            return true;
        }
        String name = found.group(NAME);
        if (name != null) {
            return parameters.contains(name) || PREDEFINED.contains(name) || all && !parameters.isEmpty();
        }
        String inBraces = found.group(NAME_IN_BRACES);
        if (inBraces != null) {
            return all && (parameters.contains(inBraces) || ParameterNames.areNameless(parameters));
        }
        return all;
    }

    private static @Nullable String name(MatchResult found) {
        return found.group(NAME) == null ? found.group(NAME_IN_BRACES) : found.group(NAME);
    }

    private static LockSetupException staysText(MatchResult found, Set<String> parameters, String nextStep) {
        String problem = "it contains '" + found.group() + "', which would stay text";
        String name = name(found);
        return name == null || parameters.contains(name) || PREDEFINED.contains(name)
                ? LockSetupException.invalid(problem, nextStep)
                : ParameterNames.unknown(problem + ": ", name, parameters);
    }

    private static String asPart(MatchResult found) {
        return "Write it as a part of the expression, outside of quotes: \"'text:' + " + expression(found) + "\"";
    }

    private static String expression(MatchResult found) {
        if (found.group(PROPERTY) != null) {
            String property = found.group(PROPERTY).replaceFirst(":.*", "");
            return "@environment.getRequiredProperty('" + property + "')";
        }
        if (found.group(EXPRESSION) != null) {
            return found.group(EXPRESSION);
        }
        String name = name(found);
        if (name != null) {
            return "#" + (found.group(PATH_IN_BRACES) == null ? name : found.group(PATH_IN_BRACES));
        }
        String position = found.group(POSITION);
        return "#p" + (position == null || position.isEmpty() ? "0" : position);
    }
}
