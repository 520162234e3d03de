package io.syncguard.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.Selection;

/** Finds the element whose evaluation fails, in a list or in the input of a projection or selection. */
final class FailedElement {

    private final ExpressionState state;

    private FailedElement(ExpressionState state) {
        this.state = state;
    }

    /** Returns the name of the element for messages, such as {@code element 2}; empty if no single element fails. */
    static String of(SpelNode expression, ExpressionState state) {
        return hasElements(expression) ? new FailedElement(state).within(expression) : "";
    }

    /** If the expression has no elements, nothing is evaluated again. */
    private static boolean hasElements(SpelNode node) {
        return node instanceof InlineList
                || isOfElements(node)
                || IntStream.range(0, node.getChildCount()).anyMatch(i -> hasElements(node.getChild(i)));
    }

    private static boolean isOfElements(SpelNode node) {
        return node instanceof Projection || node instanceof Selection;
    }

    private String within(SpelNode node) {
        if (node instanceof InlineList) {
            for (int i = 0; i < node.getChildCount(); i++) {
                if (value(node.getChild(i)) == null) {
                    return UnfitValue.join(within(node.getChild(i)), "element " + (i + 1));
                }
            }
        }
        return node instanceof CompoundExpression ? withinChain(node, 0) : "";
    }

    /** Evaluates each link of a chain on the value of the one before. */
    private String withinChain(SpelNode chain, int link) {
        SpelNode node = chain.getChild(link);
        TypedValue value = value(node);
        if (value == null) {
            return isOfElements(node) ? amongElements(node.getChild(0)) : within(node);
        }
        if (link + 1 == chain.getChildCount()) {
            return "";
        }
        state.pushActiveContextObject(value);
        try {
            return withinChain(chain, link + 1);
        } finally {
            state.popActiveContextObject();
        }
    }

    private String amongElements(SpelNode ofElement) {
        int number = 0;
        for (Object element :
                elements(KeyText.withoutOptional(state.getActiveContextObject().getValue()))) {
            number++;
            state.pushActiveContextObject(new TypedValue(element));
            state.enterScope();
            try {
                if (value(ofElement) == null) {
                    return UnfitValue.join(within(ofElement), "element " + number);
                }
            } finally {
                state.exitScope();
                state.popActiveContextObject();
            }
        }
        return "";
    }

    private static List<@Nullable Object> elements(@Nullable Object value) {
        List<@Nullable Object> all = new ArrayList<>();
        if (value instanceof Map<?, ?> map) {
            all.addAll(map.entrySet());
        } else if (value instanceof Iterable<?> iterable) {
            iterable.forEach(all::add);
        } else {
            List<@Nullable Object> elements = KeyText.elements(value);
            all.addAll(elements == null ? List.of() : elements);
        }
        return all;
    }

    /** Returns {@code null} if the evaluation fails. */
    private @Nullable TypedValue value(SpelNode node) {
        try {
            return node.getTypedValue(state);
        } catch (RuntimeException ex) {
            return null;
        }
    }
}
