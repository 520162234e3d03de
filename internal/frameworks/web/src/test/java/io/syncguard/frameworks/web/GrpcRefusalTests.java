package io.syncguard.frameworks.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.syncguard.LockException;
import io.syncguard.LockLostException;
import io.syncguard.LockNotAcquiredException;
import io.syncguard.LockUnavailableException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The interceptor of the documents gives refusals a status that clients repeat. */
@Timeout(60)
class GrpcRefusalTests {

    private static final MethodDescriptor<String, String> RESERVE = MethodDescriptor.<String, String>newBuilder(
                    new Text(), new Text())
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("Stock/reserve")
            .build();

    private final AtomicInteger calls = new AtomicInteger();

    /** What the next call throws. */
    private LockException failure = contention();

    /** How many calls fail. */
    private int failing = Integer.MAX_VALUE;

    private Server server;

    private ManagedChannel channel;

    @BeforeEach
    void start() throws IOException {
        server = InProcessServerBuilder.forName("stock")
                .intercept(new LockRefusals())
                .addService(ServerServiceDefinition.builder("Stock")
                        .addMethod(RESERVE, ServerCalls.asyncUnaryCall(this::reserve))
                        .build())
                .build()
                .start();
        channel = InProcessChannelBuilder.forName("stock")
                .enableRetry()
                .defaultServiceConfig(Map.of(
                        "methodConfig",
                        List.of(Map.of(
                                "name",
                                List.of(Map.of()),
                                "retryPolicy",
                                Map.of(
                                        "maxAttempts",
                                        3.0,
                                        "initialBackoff",
                                        "0.01s",
                                        "maxBackoff",
                                        "0.01s",
                                        "backoffMultiplier",
                                        1.0,
                                        "retryableStatusCodes",
                                        List.of("UNAVAILABLE"))))))
                .build();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    @Test
    void clients_repeat_a_refused_call() {
        failing = 2;

        assertThat(ClientCalls.blockingUnaryCall(channel, RESERVE, CallOptions.DEFAULT, "pen"))
                .isEqualTo("reserved");
        assertThat(calls).hasValue(3);
    }

    @Test
    void they_do_not_repeat_a_call_that_may_have_done_a_part() {
        failure = new LockLostException("sku:pen", "Lock 'sku:pen' was lost");

        Status status = statusOfCall();

        assertThat(status.getCode()).isEqualTo(Status.Code.ABORTED);
        assertThat(status.getDescription()).doesNotContain("pen");
        assertThat(calls).hasValue(1);
    }

    private Status statusOfCall() {
        try {
            ClientCalls.blockingUnaryCall(channel, RESERVE, CallOptions.DEFAULT, "pen");
            return Status.OK;
        } catch (StatusRuntimeException ex) {
            return ex.getStatus();
        }
    }

    /** The generated method, without a lock. The bean that it calls has one. */
    private void reserve(String sku, StreamObserver<String> answer) {
        answer.onNext(lockedReserve());
        answer.onCompleted();
    }

    private String lockedReserve() {
        if (calls.incrementAndGet() <= failing) {
            throw failure;
        }
        return "reserved";
    }

    private static LockNotAcquiredException contention() {
        return new LockNotAcquiredException("sku:pen", null, null, Duration.ZERO, "Lock 'sku:pen' is held");
    }

    private record Text() implements MethodDescriptor.Marshaller<String> {

        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream bytes) {
            try {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}

/** Answers refusals with the statuses of the documents. */
final class LockRefusals implements ServerInterceptor {

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
            @Override
            public void onHalfClose() { // runs the method of the service
                try {
                    super.onHalfClose();
                } catch (LockException ex) {
                    call.close(statusOf(ex), new Metadata());
                }
            }
        };
    }

    private static Status statusOf(LockException failure) {
        boolean nothingDone = failure instanceof LockUnavailableException
                || failure instanceof LockNotAcquiredException refusal && !refusal.isInsideBody();
        return nothingDone
                ? Status.UNAVAILABLE.withDescription("Locked. Nothing was done, try again")
                : Status.ABORTED.withDescription("The work may be done in part");
    }
}
