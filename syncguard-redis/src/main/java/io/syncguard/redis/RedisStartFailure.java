package io.syncguard.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.syncguard.LockBackendException;
import io.syncguard.LockSetupException;
import io.syncguard.concurrent.Chain;
import java.util.List;

/** Explains to the person who starts an application why a server refuses locks for good. */
final class RedisStartFailure {

    private RedisStartFailure() {}

    /**
     * Returns the failure itself if it has a reason already, otherwise one with a next step for the error of the
     * server.
     */
    static RuntimeException of(String prefix, LockBackendException failure) {
        if (Chain.causes(failure).anyMatch(LockSetupException.class::isInstance)) {
            return failure;
        }
        RedisCommandExecutionException answer = RedisErrors.answerOf(failure);
        String words = answer == null ? String.valueOf(failure.getMessage()) : RedisErrors.wordsOf(answer);
        RedisAnswer refusal = RedisAnswer.of(words);
        return new LockSetupException(
                failure.code(),
                switch (refusal) {
                            case REFUSED_LOGIN -> "Redis refuses the user or its password: ";
                            case MISSING_RIGHT -> "The user of Redis may not do what locks need: ";
                            case UNKNOWN_DATABASE -> "Redis does not have the database: ";
                            case UNKNOWN_COMMAND -> "Redis lacks a command that locks need: ";
                            case REFUSED_KEY -> "Redis refuses the keys under '" + prefix + "': ";
                            default -> "Redis refuses a lock: ";
                        }
                        + words,
                switch (refusal) {
                    case REFUSED_LOGIN -> List.of("Correct spring.data.redis.username and spring.data.redis.password");
                    case MISSING_RIGHT ->
                        List.of("Have an administrator give the user the rights under \"Rights on Redis\" in"
                                + " docs/security.md");
                    case UNKNOWN_DATABASE ->
                        List.of("Correct spring.data.redis.database", "Raise databases of the server");
                    case UNKNOWN_COMMAND ->
                        List.of(
                                "Have an administrator allow the command: look for rename-command and for a proxy",
                                "Set spring.data.redis.url to a Redis or Valkey that runs scripts");
                    case REFUSED_KEY ->
                        List.of(
                                "Look for other users of these keys, and delete those that are not of SyncGuard",
                                "Set another syncguard.redis.key-prefix");
                    default -> List.of("Correct what Redis names");
                },
                failure);
    }
}
