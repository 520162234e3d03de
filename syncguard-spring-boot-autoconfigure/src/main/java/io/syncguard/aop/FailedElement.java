package io.syncguard.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.Selection;

/** Finds the element of a list, or of what a projection or selection reads, whose evaluation fails. */
final class FailedElement {

    private final ExpressionState state;

    private FailedElement(ExpressionState state) {
        this.state = state;
    }

    /** Its name for people, such as {@code element 2}; empty if no single element fails. */
    static String of(SpelNode expression, ExpressionState state) {
        return new FailedElement(state).within(expression);
    }

    private String within(SpelNode node) {
        if (node instanceof InlineList) {
            for (int i = 0; i < node.getChildCount(); i++) {
                if (fails(node.getChild(i))) {
                    return UnfitValue.join(within(node.getChild(i)), "element " + (i + 1));
                }
            }
        }
        return node instanceof CompoundExpression ? withinChain(node, 0) : "";
    }

    /** Evaluates each link of a chain on the value of the one before. */
    private String withinChain(SpelNode chain, int link) {
        SpelNode node = chain.getChild(link);
        if (fails(node)) {
            boolean ofElements = node instanceof Projection || node instanceof Selection;
            return ofElements ? amongElements(node.getChild(0)) : within(node);
        }
        if (link + 1 == chain.getChildCount()) {
            return "";
        }
        state.pushActiveContextObject(node.getTypedValue(state));
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
                if (fails(ofElement)) {
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

    private boolean fails(SpelNode node) {
        try {
            node.getTypedValue(state);
            return false;
        } catch (RuntimeException ex) {
            return true;
        }
    }
}
