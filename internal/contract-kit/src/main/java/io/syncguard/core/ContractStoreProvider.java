package io.syncguard.core;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each contract test its store. An extension of the test's class, so that a contract needs no code for another
 * store. The classes are flat: reports do not say to which store an inherited nested class belongs.
 */
@FunctionalInterface
public interface ContractStoreProvider extends ParameterResolver {

    /** The store, without anything that a test before has left. */
    ContractStore emptied();

    @Override
    default boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == ContractStore.class;
    }

    @Override
    default Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return emptied();
    }
}
