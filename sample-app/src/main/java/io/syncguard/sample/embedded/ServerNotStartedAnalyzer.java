package io.syncguard.sample.embedded;

import io.syncguard.embedded.ServerNotStartedException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/** Says first what to do if a server of the sample does not start: the exception is the cause of many others. */
class ServerNotStartedAnalyzer extends AbstractFailureAnalyzer<ServerNotStartedException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, ServerNotStartedException cause) {
        return new FailureAnalysis(cause.getMessage() + ".", StringUtils.capitalize(cause.remedy()) + ".", cause);
    }
}
