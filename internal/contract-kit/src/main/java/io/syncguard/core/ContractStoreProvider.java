package io.syncguard.core;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each contract test its store. It is an extension of the test's class, so that a contract needs no code for
 * another store. Contracts have no nested classes, because reports do not say to which store an inherited nested class
 * belongs.
 */
@FunctionalInterface
public interface ContractStoreProvider extends ParameterResolver {

    /** Returns the store, without the data of earlier tests. */
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
