package io.syncguard.aop;

import io.syncguard.interception.ResultType;

/**
 * The parsed annotation of one method.
 *
 * @param description the qualified name of the method, for messages
 * @param election the name of the election
 * @param result what the method returns
 */
record LeaderOnlyMethod(String description, String election, ResultType result) {}
