package io.syncguard.aop;

import io.syncguard.interception.ResultType;

/**
 * What the annotation of one method says.
 *
 * @param description the method, as people know it
 * @param election the name
 * @param result what the method returns
 */
record LeaderOnlyMethod(String description, String election, ResultType result) {}
