package io.syncguard.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import io.syncguard.DistributedLock;
import io.syncguard.LockErrorCode;
import io.syncguard.LockException;
import io.syncguard.LockHandle;
import io.syncguard.LockTemplate;
import jakarta.persistence.TypedQuery;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.Reader;
import java.io.StringReader;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.CharBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.sql.Blob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.LocalDate;
import java.time.chrono.ChronoLocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.InputStreamResource;
import org.springframework.core.io.Resource;
import org.springframework.data.domain.Page;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.MappedQuerySpec;
import org.springframework.jdbc.support.rowset.SqlRowSet;
import org.springframework.web.client.RestClient;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Work that is still to come when a method returns never runs without the lock unnoticed. */
@Timeout(60)
class DistributedLockLateResultTests {

    @RegisterExtension
    private final LockedApplication application = new LockedApplication();

    private final ApplicationContextRunner runner = application.with(Open.class);

    @ParameterizedTest
    @ValueSource(
            classes = {
                OfCallable.class,
                OfSupplier.class,
                OfFunction.class,
                OfIterator.class,
                OfSpliterator.class,
                OfWebAsyncTask.class,
                OfSseEmitter.class,
                OfStreamedResponse.class,
                OfMonoInResponse.class,
                OfFluxInResponse.class,
                OfDeferredInResponse.class,
                OfFutures.class,
                OfFutureArray.class,
                OfFutureMap.class,
                OfOptionalFuture.class,
                OfNestedFutures.class,
                OfOwnList.class,
                OfRecord.class,
                OfGenericRecord.class,
                OfConnectableFlux.class,
                OfMonoInFuture.class,
                OfFutureInFuture.class,
                OfStreamInMono.class,
                OfBoundVariable.class
            })
    void a_type_that_tells_it_fails_the_start(Class<?> bean) {
        application
                .with(bean)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockException.class)
                        .hasMessageContaining("is not complete when the method returns")
                        .hasMessageContaining("Return a CompletableFuture"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                OfInputStream.class,
                OfReader.class,
                OfOutputStream.class,
                OfResource.class,
                OfMultipartFile.class,
                OfWriter.class,
                OfRunnable.class,
                OfPredicate.class,
                OfThread.class,
                OfOwnFunction.class,
                OfChannel.class,
                OfRandomAccessFile.class,
                OfResultSet.class,
                OfPreparedStatement.class,
                OfBlob.class,
                OfQuery.class,
                OfDownload.class,
                OfOptionalInputStream.class,
                OfInputStreams.class,
                OfInputStreamArray.class,
                OfFutureInputStream.class,
                OfMonoResource.class,
                OfRecordWithReader.class,
                OfHttpResponse.class,
                OfBoundResource.class
            })
    void a_type_that_is_read_or_run_later_fails_the_start(Class<?> bean) {
        a_type_that_tells_it_fails_the_start(bean);
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                OfConnection.class,
                OfZipFile.class,
                OfJarFile.class,
                OfProcess.class,
                OfUrlConnection.class,
                OfSocket.class,
                OfMappedQuery.class,
                OfStatement.class,
                OfExchange.class,
                OfCloseable.class,
                OfFileSystem.class,
                OfNamedSupplier.class,
                OfReference.class
            })
    void a_type_that_is_open_fails_the_start(Class<?> bean) {
        a_type_that_tells_it_fails_the_start(bean);
    }

    @Test
    void types_that_are_there_when_the_method_returns_do_not() {
        application.with(Present.class).run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @MethodSource("late")
    void a_value_that_tells_it_fails_the_call(Object late) {
        runner.run(context -> {
            Open open = context.getBean(Open.class);

            assertRefused(late, () -> open.any(late));
            assertRefused(late, () -> open.response(ResponseEntity.ok(late)));
            assertRefused(late, () -> open.list(List.of("first", late)));
            assertRefused(late, () -> open.optional(Optional.of(late)));
            assertRefused(late, () -> open.any(Map.of("key", late)));
            assertRefused(late, () -> open.any(new Object[] {late}));
            assertRefused(late, () -> open.any(List.of(Optional.of(late))));
            assertRefused(late, () -> open.any(new AtomicReference<>(late)));
            assertRefused(late, () -> open.any(Map.entry("key", late)));
            assertRefused(late, () -> locks(context).execute("any", lock -> late));
            assertRefused(late, () -> locks(context).tryExecute("any", lock -> List.of(late)));
            assertThat(application.isTaken("any")).isFalse();
        });
    }

    static Stream<Arguments> late() {
        return Stream.of(
                argumentSet("mono", Mono.just("a")),
                argumentSet("flux", Flux.just("a")),
                argumentSet("flow", (Flow.Publisher<String>) subscriber -> {}),
                argumentSet("callable", (Callable<String>) () -> "a"),
                argumentSet("supplier", (Supplier<String>) () -> "a"),
                argumentSet("function", (Function<String, String>) text -> text),
                argumentSet("stream", Stream.of("a")),
                argumentSet("iterator", List.of("a").iterator()),
                argumentSet("iterable", (Iterable<String>) () -> List.of("a").iterator()),
                argumentSet("deferred result", new DeferredResult<>()),
                argumentSet("emitter", new SseEmitter()),
                argumentSet("streamed", (StreamingResponseBody) output -> {}),
                argumentSet("writer of a body", (Consumer<OutputStream>) output -> {}),
                argumentSet("runnable", (Runnable) () -> {}),
                argumentSet("named runnable", new Thread(() -> {})),
                argumentSet("own function", (Undo) () -> {}),
                argumentSet("lambda of an unmarked interface", (Unmarked) () -> {}),
                argumentSet("named supplier", new NamedSupplier()),
                argumentSet("open", new Client()),
                argumentSet("socket", new Socket()),
                argumentSet("input stream", new BufferedInputStream(InputStream.nullInputStream())),
                argumentSet("reader", new BufferedReader(Reader.nullReader())),
                argumentSet("channel", Channels.newChannel(InputStream.nullInputStream())),
                argumentSet("resource", new InputStreamResource(InputStream.nullInputStream())));
    }

    @Test
    void a_future_within_a_result_is_refused_and_cancelled() {
        runner.run(context -> {
            Open open = context.getBean(Open.class);
            CompletableFuture<String> future = new CompletableFuture<>();
            FutureTask<String> task = new FutureTask<>(() -> "a");

            assertRefused(future, () -> open.any(List.of(future, task)));
            assertThat(future).isCancelled();
            assertThat(task).isCancelled();

            CompletableFuture<String> ofTemplate = new CompletableFuture<>();
            assertRefused(ofTemplate, () -> locks(context).execute("any", lock -> ofTemplate));
            assertThat(ofTemplate).isCancelled();
        });
    }

    @Test
    void a_late_result_deep_within_a_large_one_is_refused() {
        runner.run(context -> {
            Open open = context.getBean(Open.class);
            List<Object> large = new ArrayList<>(Collections.nCopies(9_000, "there"));
            large.add(new Named<>("record", new CompletableFuture<>()));

            assertThatThrownBy(() -> open.any(large)).isInstanceOf(LockException.class);

            Object deep = Stream.of("a");
            for (int i = 0; i < 8; i++) {
                deep = List.of(deep);
            }
            Object nested = deep;
            assertThatThrownBy(() -> open.any(nested)).isInstanceOf(LockException.class);
        });
    }

    /** A client that all callers use, for instance. */
    @Test
    void what_others_may_share_is_not_closed_when_it_is_refused() {
        runner.run(context -> {
            Client client = new Client();

            assertRefused(client, () -> context.getBean(Open.class).any(client));

            assertThat(client.closed).isFalse();
        });
    }

    @Test
    void a_stream_is_closed_when_it_is_refused() {
        runner.run(context -> {
            AtomicBoolean closed = new AtomicBoolean();
            Stream<String> rows = Stream.of("a").onClose(() -> closed.set(true));

            assertRefused(rows, () -> context.getBean(Open.class).any(rows));

            assertThat(closed).isTrue();
        });
    }

    @Test
    void an_input_stream_is_closed_when_it_is_refused() {
        runner.run(context -> {
            AtomicBoolean closed = new AtomicBoolean();
            InputStream file = new FilterInputStream(InputStream.nullInputStream()) {
                @Override
                public void close() {
                    closed.set(true);
                }
            };

            assertRefused(file, () -> context.getBean(Open.class).any(file));

            assertThat(closed).isTrue();
        });
    }

    @Test
    void a_future_that_is_done_with_work_that_is_still_to_come_fails() {
        runner.run(context -> {
            Open open = context.getBean(Open.class);

            CompletableFuture<?> later = (CompletableFuture<?>) open.any(new CompletableFuture<>());
            assertThat(later).isNotDone();

            CompletableFuture<Object> source = new CompletableFuture<>();
            CompletableFuture<Object> held = open.future(source);
            source.complete(Mono.just("a"));

            assertThat(held)
                    .failsWithin(Duration.ofSeconds(10))
                    .withThrowableThat()
                    .withMessageContainingAll("Open.future", "Mono");
            assertThat(application.isTaken("future")).isFalse();
        });
    }

    @Test
    void an_element_of_a_publisher_with_work_that_is_still_to_come_fails_the_subscription() {
        runner.run(context -> {
            Mono<Object> result = context.getBean(Open.class).mono(Mono.just(List.of(Mono.just("a"))));

            assertThatThrownBy(result::block).isInstanceOf(LockException.class).hasMessageContaining("Open.mono");
            assertThat(application.isTaken("mono")).isFalse();
        });
    }

    @Test
    void results_that_are_there_are_returned() {
        runner.run(context -> {
            Open open = context.getBean(Open.class);
            for (Object there : List.of(
                    "text",
                    List.of(),
                    List.of("a", CompletableFuture.completedFuture("done")),
                    List.of(CompletableFuture.completedStage("done")),
                    Map.of("a", 1),
                    Optional.of("a"),
                    Page.empty(),
                    new ByteArrayInputStream(new byte[1]),
                    new StringReader("text"),
                    CharBuffer.wrap("text"),
                    new ByteArrayResource(new byte[1]),
                    LocalDate.EPOCH,
                    Comparator.comparing(String::length),
                    (Comparator<String>) (one, two) -> 0,
                    Choice.YES,
                    new Callback("record"),
                    new Named<>("record", (Supplier<String>) () -> "a"),
                    new Named<>("record", Stream.class),
                    new AtomicReference<>("a"),
                    Map.entry("a", "b"),
                    Path.of("report.pdf"),
                    new int[] {1})) {
                assertThat(open.any(there)).isSameAs(there);
                assertThat(locks(context).<Object, RuntimeException>execute("any", lock -> there))
                        .isSameAs(there);
            }
        });
    }

    private static LockTemplate locks(ApplicationContext context) {
        return context.getBean(LockTemplate.class);
    }

    private static void assertRefused(Object late, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        LockException.class, ex -> assertThat(ex.code()).isEqualTo(LockErrorCode.INVALID_ARGUMENT))
                .hasMessageContainingAll(late.getClass().getName(), "without the lock")
                .hasMessageFindingMatch("Return the result itself|ReactiveLockTemplate|Wait for its result");
    }

    static class Open {

        @DistributedLock("any")
        public Object any(Object result) {
            return result;
        }

        @DistributedLock("response")
        public ResponseEntity<?> response(ResponseEntity<?> result) {
            return result;
        }

        @DistributedLock("list")
        public List<Object> list(List<Object> result) {
            return result;
        }

        @DistributedLock("optional")
        public Optional<Object> optional(Optional<Object> result) {
            return result;
        }

        @DistributedLock("future")
        public CompletableFuture<Object> future(CompletableFuture<Object> result) {
            return result;
        }

        @DistributedLock("mono")
        public Mono<Object> mono(Mono<Object> result) {
            return result;
        }
    }

    @DistributedLock("present")
    static class Present {

        public @Nullable Page<String> page() {
            return null;
        }

        public List<Map<String, Optional<String>>> nested() {
            return List.of();
        }

        public ResponseEntity<List<String>> response() {
            return ResponseEntity.ok(List.of());
        }

        public @Nullable Node node() {
            return null;
        }

        public CompletableFuture<List<String>> future() {
            return CompletableFuture.completedFuture(List.of());
        }

        public Mono<ResponseEntity<List<String>>> mono() {
            return Mono.empty();
        }

        @SuppressWarnings("rawtypes")
        public List raw() {
            return List.of();
        }

        public <T> List<T> variable() {
            return List.of();
        }

        public @Nullable Named<Supplier<String>> functions() {
            return null;
        }

        public @Nullable Named<Runnable> undo() {
            return null;
        }

        public ByteArrayInputStream bytes() {
            return new ByteArrayInputStream(new byte[0]);
        }

        public ResponseEntity<ByteArrayResource> download() {
            return ResponseEntity.ok(new ByteArrayResource(new byte[0]));
        }

        public @Nullable SqlRowSet rows() {
            return null;
        }

        public Comparator<String> order() {
            return Comparator.naturalOrder();
        }

        public @Nullable LockHandle handle() {
            return null;
        }

        public @Nullable Choice choice() {
            return null;
        }

        public @Nullable ChronoLocalDate date() {
            return null;
        }

        public Path file() {
            return Path.of("report.pdf");
        }

        public Iterable<String> names() {
            return List.of();
        }
    }

    /** Its type has no end. */
    interface Node extends Iterable<Node> {}

    static class OfInputStream {
        @DistributedLock("n")
        public InputStream run() {
            return InputStream.nullInputStream();
        }
    }

    static class OfReader {
        @DistributedLock("n")
        public BufferedReader run() {
            return new BufferedReader(Reader.nullReader());
        }
    }

    static class OfOutputStream {
        @DistributedLock("n")
        public OutputStream run() {
            return OutputStream.nullOutputStream();
        }
    }

    static class OfResource {
        @DistributedLock("n")
        public @Nullable Resource run() {
            return null;
        }
    }

    static class OfMultipartFile {
        @DistributedLock("n")
        public @Nullable MultipartFile run() {
            return null;
        }
    }

    static class OfWriter {
        @DistributedLock("n")
        public Consumer<OutputStream> run() {
            return output -> {};
        }
    }

    static class OfRunnable {
        @DistributedLock("n")
        public Runnable run() {
            return () -> {};
        }
    }

    static class OfPredicate {
        @DistributedLock("n")
        public Predicate<String> run() {
            return String::isEmpty;
        }
    }

    static class OfThread {
        @DistributedLock("n")
        public Thread run() {
            return new Thread(() -> {});
        }
    }

    @FunctionalInterface
    interface Undo {
        void undo();
    }

    static class OfOwnFunction {
        @DistributedLock("n")
        public Undo run() {
            return () -> {};
        }
    }

    static class OfChannel {
        @DistributedLock("n")
        public @Nullable FileChannel run() {
            return null;
        }
    }

    static class OfRandomAccessFile {
        @DistributedLock("n")
        public @Nullable RandomAccessFile run() {
            return null;
        }
    }

    interface Unmarked {
        void undo();
    }

    static class NamedSupplier implements Supplier<String> {
        @Override
        public String get() {
            return "";
        }
    }

    static class Client implements AutoCloseable {

        boolean closed;

        @Override
        public void close() {
            closed = true;
        }
    }

    enum Choice implements Supplier<String> {
        YES;

        @Override
        public String get() {
            return name();
        }
    }

    record Callback(String name) implements Supplier<String> {
        @Override
        public String get() {
            return name;
        }
    }

    static class OfConnection {
        @DistributedLock("n")
        public @Nullable Connection run() {
            return null;
        }
    }

    static class OfZipFile {
        @DistributedLock("n")
        public @Nullable ZipFile run() {
            return null;
        }
    }

    static class OfJarFile {
        @DistributedLock("n")
        public @Nullable JarFile run() {
            return null;
        }
    }

    static class OfProcess {
        @DistributedLock("n")
        public @Nullable Process run() {
            return null;
        }
    }

    static class OfUrlConnection {
        @DistributedLock("n")
        public @Nullable HttpURLConnection run() {
            return null;
        }
    }

    static class OfSocket {
        @DistributedLock("n")
        public @Nullable Socket run() {
            return null;
        }
    }

    static class OfMappedQuery {
        @DistributedLock("n")
        public @Nullable MappedQuerySpec<String> run() {
            return null;
        }
    }

    static class OfStatement {
        @DistributedLock("n")
        public JdbcClient.@Nullable StatementSpec run() {
            return null;
        }
    }

    static class OfExchange {
        @DistributedLock("n")
        public RestClient.@Nullable ResponseSpec run() {
            return null;
        }
    }

    static class OfCloseable {
        @DistributedLock("n")
        public @Nullable AutoCloseable run() {
            return null;
        }
    }

    static class OfFileSystem {
        @DistributedLock("n")
        public @Nullable FileSystem run() {
            return null;
        }
    }

    static class OfNamedSupplier {
        @DistributedLock("n")
        public @Nullable NamedSupplier run() {
            return null;
        }
    }

    static class OfReference {
        @DistributedLock("n")
        public @Nullable AtomicReference<Stream<String>> run() {
            return null;
        }
    }

    static class OfResultSet {
        @DistributedLock("n")
        public @Nullable ResultSet run() {
            return null;
        }
    }

    static class OfPreparedStatement {
        @DistributedLock("n")
        public @Nullable PreparedStatement run() {
            return null;
        }
    }

    static class OfBlob {
        @DistributedLock("n")
        public @Nullable Blob run() {
            return null;
        }
    }

    static class OfQuery {
        @DistributedLock("n")
        public @Nullable TypedQuery<String> run() {
            return null;
        }
    }

    static class OfDownload {
        @DistributedLock("n")
        public ResponseEntity<Resource> run() {
            return ResponseEntity.noContent().build();
        }
    }

    static class OfOptionalInputStream {
        @DistributedLock("n")
        public Optional<InputStream> run() {
            return Optional.empty();
        }
    }

    static class OfInputStreams {
        @DistributedLock("n")
        public List<? extends InputStream> run() {
            return List.of();
        }
    }

    static class OfInputStreamArray {
        @DistributedLock("n")
        public InputStream[] run() {
            return new InputStream[0];
        }
    }

    static class OfFutureInputStream {
        @DistributedLock("n")
        public CompletableFuture<InputStream> run() {
            return new CompletableFuture<>();
        }
    }

    static class OfMonoResource {
        @DistributedLock("n")
        public Mono<Resource> run() {
            return Mono.empty();
        }
    }

    static class OfRecordWithReader {
        @DistributedLock("n")
        public @Nullable Named<Reader> run() {
            return null;
        }
    }

    static class OfHttpResponse {
        @DistributedLock("n")
        public @Nullable HttpResponse<InputStream> run() {
            return null;
        }
    }

    static class OfBoundResource extends BoundAlone<Resource> {}

    abstract static class BoundAlone<T> {
        @DistributedLock("n")
        public @Nullable T run() {
            return null;
        }
    }

    static class OfCallable {
        @DistributedLock("n")
        public Callable<String> run() {
            return () -> "";
        }
    }

    static class OfSupplier {
        @DistributedLock("n")
        public Supplier<String> run() {
            return () -> "";
        }
    }

    static class OfFunction {
        @DistributedLock("n")
        public Function<String, String> run() {
            return text -> text;
        }
    }

    static class OfIterator {
        @DistributedLock("n")
        public Iterator<String> run() {
            return List.<String>of().iterator();
        }
    }

    static class OfSpliterator {
        @DistributedLock("n")
        public Spliterator<String> run() {
            return List.<String>of().spliterator();
        }
    }

    static class OfWebAsyncTask {
        @DistributedLock("n")
        public WebAsyncTask<String> run() {
            return new WebAsyncTask<>(() -> "");
        }
    }

    static class OfSseEmitter {
        @DistributedLock("n")
        public SseEmitter run() {
            return new SseEmitter();
        }
    }

    static class OfStreamedResponse {
        @DistributedLock("n")
        public ResponseEntity<StreamingResponseBody> run() {
            return ResponseEntity.ok(output -> {});
        }
    }

    static class OfMonoInResponse {
        @DistributedLock("n")
        public ResponseEntity<Mono<String>> run() {
            return ResponseEntity.ok(Mono.empty());
        }
    }

    static class OfFluxInResponse {
        @DistributedLock("n")
        public Mono<ResponseEntity<Flux<String>>> run() {
            return Mono.empty();
        }
    }

    static class OfDeferredInResponse {
        @DistributedLock("n")
        public ResponseEntity<DeferredResult<String>> run() {
            return ResponseEntity.ok(new DeferredResult<>());
        }
    }

    static class OfFutures {
        @DistributedLock("n")
        public List<Future<String>> run() {
            return List.of();
        }
    }

    static class OfFutureArray {
        @DistributedLock("n")
        public CompletableFuture<?>[] run() {
            return new CompletableFuture<?>[0];
        }
    }

    static class OfFutureMap {
        @DistributedLock("n")
        public Map<String, CompletableFuture<String>> run() {
            return Map.of();
        }
    }

    static class OfOptionalFuture {
        @DistributedLock("n")
        public Optional<CompletableFuture<String>> run() {
            return Optional.empty();
        }
    }

    static class OfNestedFutures {
        @DistributedLock("n")
        public List<Optional<? extends Future<String>>> run() {
            return List.of();
        }
    }

    static class OfOwnList {
        @DistributedLock("n")
        public Futures run() {
            return new Futures();
        }
    }

    @SuppressWarnings("serial")
    static class Futures extends ArrayList<CompletableFuture<String>> {}

    static class OfRecord {
        @DistributedLock("n")
        public Started run() {
            return new Started(new CompletableFuture<>());
        }
    }

    record Started(CompletableFuture<String> result) {}

    static class OfGenericRecord {
        @DistributedLock("n")
        public Named<Stream<String>> run() {
            return new Named<>("", Stream.of());
        }
    }

    record Named<T>(String name, T result) {}

    /** No publisher that holds the lock is of this type. */
    static class OfConnectableFlux {
        @DistributedLock("n")
        public ConnectableFlux<String> run() {
            return Flux.<String>empty().publish();
        }
    }

    static class OfMonoInFuture {
        @DistributedLock("n")
        public CompletableFuture<Mono<String>> run() {
            return new CompletableFuture<>();
        }
    }

    static class OfFutureInFuture {
        @DistributedLock("n")
        public Future<Future<String>> run() {
            return new CompletableFuture<>();
        }
    }

    static class OfStreamInMono {
        @DistributedLock("n")
        public Mono<Stream<String>> run() {
            return Mono.empty();
        }
    }

    abstract static class Bound<T> {
        @DistributedLock("n")
        public List<T> run() {
            return Arrays.asList();
        }
    }

    static class OfBoundVariable extends Bound<Future<String>> {
        @Override
        @DistributedLock("n")
        public List<Future<String>> run() {
            return List.of();
        }
    }
}
