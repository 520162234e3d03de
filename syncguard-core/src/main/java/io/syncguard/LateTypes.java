package io.syncguard;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.CharArrayReader;
import java.io.CharArrayWriter;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.Writer;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLConnection;
import java.nio.CharBuffer;
import java.nio.channels.Channel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/** The types of {@link LateResults}. Thread-safe. */
final class LateTypes {

    private static final List<Class<?>> LATE = List.of(
            Future.class,
            CompletionStage.class,
            Flow.Publisher.class,
            BaseStream.class,
            Iterator.class,
            Spliterator.class,
            Enumeration.class,
            Callable.class,
            Runnable.class,
            InputStream.class,
            OutputStream.class,
            Readable.class,
            Writer.class,
            DataInput.class,
            DataOutput.class,
            Channel.class,
            Process.class,
            Socket.class,
            ServerSocket.class,
            DatagramSocket.class,
            URLConnection.class,
            ZipFile.class);

    /** Types of libraries and modules that may be missing. */
    private static final Set<String> LATE_BY_NAME = Set.of(
            "com.datastax.oss.driver.api.core.PagingIterable",
            "com.mongodb.client.MongoIterable",
            "io.grpc.stub.StreamObserver",
            "io.r2dbc.spi.Result",
            "io.r2dbc.spi.Statement",
            "io.reactivex.rxjava3.core.CompletableSource",
            "io.reactivex.rxjava3.core.MaybeSource",
            "io.reactivex.rxjava3.core.ObservableSource",
            "io.reactivex.rxjava3.core.SingleSource",
            "io.smallrye.mutiny.Uni",
            "jakarta.persistence.Query",
            "jakarta.servlet.http.Part",
            "java.sql.Blob",
            "java.sql.Clob",
            "java.sql.Connection",
            "java.sql.ResultSet",
            "java.sql.SQLXML",
            "java.sql.Statement",
            "kotlin.Function",
            "kotlin.Lazy",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.Job",
            "kotlinx.coroutines.channels.ReceiveChannel",
            "kotlinx.coroutines.channels.SendChannel",
            "kotlinx.coroutines.flow.Flow",
            "okhttp3.Call",
            "org.hibernate.ScrollableResults",
            "org.jdbi.v3.core.result.ResultIterable",
            "org.jooq.Query",
            "org.reactivestreams.Publisher",
            "org.springframework.core.io.InputStreamSource",
            "org.springframework.data.repository.query.FluentQuery",
            "org.springframework.http.HttpInputMessage",
            "org.springframework.jdbc.core.simple.JdbcClient$MappedQuerySpec",
            "org.springframework.jdbc.core.simple.JdbcClient$ResultQuerySpec",
            "org.springframework.jdbc.core.simple.JdbcClient$StatementSpec",
            "org.springframework.r2dbc.core.DatabaseClient$GenericExecuteSpec",
            "org.springframework.r2dbc.core.RowsFetchSpec",
            "org.springframework.r2dbc.core.UpdatedRowsFetchSpec",
            "org.springframework.web.client.RestClient$RequestHeadersSpec",
            "org.springframework.web.client.RestClient$ResponseSpec",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.reactive.function.client.WebClient$RequestHeadersSpec",
            "org.springframework.web.reactive.function.client.WebClient$ResponseSpec",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
            "org.springframework.web.servlet.function.AsyncServerResponse",
            "org.springframework.web.servlet.function.SseServerResponse",
            "org.springframework.web.servlet.function.StreamingServerResponse",
            "retrofit2.Call");

    private static final List<Class<?>> FUTURES = List.of(CompletionStage.class, Future.class);

    /** What a method with {@link DistributedLock} may return as it may return a publisher of Reactor. */
    private static final Set<String> PUBLISHERS = Set.of(
            "io.reactivex.rxjava3.core.CompletableSource",
            "io.reactivex.rxjava3.core.MaybeSource",
            "io.reactivex.rxjava3.core.ObservableSource",
            "io.reactivex.rxjava3.core.SingleSource",
            "io.smallrye.mutiny.Uni",
            "kotlinx.coroutines.flow.Flow",
            "org.reactivestreams.Publisher");

    /** Values that can be closed, read or called, but hold nothing open. */
    private static final List<Class<?>> IN_MEMORY = List.of(
            Comparator.class,
            LockHandle.class,
            LockHandles.class,
            ByteArrayInputStream.class,
            ByteArrayOutputStream.class,
            CharArrayReader.class,
            CharArrayWriter.class,
            StringReader.class,
            StringWriter.class,
            CharBuffer.class);

    private static final Set<String> IN_MEMORY_BY_NAME = Set.of(
            "javax.sql.rowset.CachedRowSet",
            "javax.sql.rowset.serial.SerialBlob",
            "javax.sql.rowset.serial.SerialClob",
            "org.apache.poi.ss.usermodel.Workbook",
            "org.springframework.core.io.ByteArrayResource");

    private static final ClassValue<Boolean> KNOWN = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return !isOneOf(IN_MEMORY, IN_MEMORY_BY_NAME, type)
                    && (isOneOf(LATE, LATE_BY_NAME, type) || isLazyIterable(type) || isOpen(type) || isFunction(type));
        }
    };

    /** Types whose values say whether their work still runs. */
    private static final Set<String> EXECUTIONS = Set.of(
            "org.springframework.batch.core.JobExecution",
            "org.springframework.batch.core.StepExecution",
            "org.springframework.batch.core.job.JobExecution",
            "org.springframework.batch.core.step.StepExecution");

    /** The states of an execution whose work goes on. */
    private static final Set<String> RUNNING = Set.of("STARTING", "STARTED", "STOPPING");

    private static final ClassValue<Boolean> EXECUTION = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return supertypes(type).stream().anyMatch(each -> EXECUTIONS.contains(each.getName()));
        }
    };

    private LateTypes() {}

    static boolean contains(Class<?> type) {
        return KNOWN.get(type);
    }

    /** Whether it is an execution that has not ended. */
    static boolean isRunning(Object value) {
        if (!EXECUTION.get(value.getClass())) {
            return false;
        }
        try {
            return RUNNING.contains(
                    String.valueOf(value.getClass().getMethod("getStatus").invoke(value)));
        } catch (ReflectiveOperationException ex) {
            return false;
        }
    }

    /** What to return in place of such a result, or how to hold the lock until it ends. */
    static String advice(Class<?> type) {
        if (isOneOf(FUTURES, Set.of(), type)) {
            return "Wait for its result in the body, or return it from a method with @DistributedLock";
        }
        return isOneOf(List.of(Flow.Publisher.class), PUBLISHERS, type)
                ? "Give the body to ReactiveLockTemplate, or return it from a method with @DistributedLock"
                : "Return the result itself, such as a List or byte[]";
    }

    /**
     * Whether a late result of this type may be closed. Any other result that can be closed may be shared, such as a
     * client that all callers use.
     */
    static boolean isClosedWhenRefused(Class<?> type) {
        return isOneOf(LATE, LATE_BY_NAME, type) || isLazyIterable(type);
    }

    /** Whether it is work that a record may carry: it has not begun. */
    static boolean isFunctionOfRecord(Class<?> type) {
        return !Future.class.isAssignableFrom(type)
                && !Thread.class.isAssignableFrom(type)
                && (Runnable.class.isAssignableFrom(type) || isOfFunctionPackage(type));
    }

    private static boolean isOneOf(List<Class<?>> types, Set<String> names, Class<?> type) {
        return types.stream().anyMatch(each -> each.isAssignableFrom(type))
                || supertypes(type).stream().anyMatch(each -> names.contains(each.getName()));
    }

    /** A database cursor, for instance. Not a collection that can be closed: it has its elements already. */
    private static boolean isLazyIterable(Class<?> type) {
        return Iterable.class.isAssignableFrom(type)
                && !Collection.class.isAssignableFrom(type)
                && (AutoCloseable.class.isAssignableFrom(type) || isWithoutName(type));
    }

    /** What can be closed holds something open. Not a collection that can be closed: it has its elements already. */
    private static boolean isOpen(Class<?> type) {
        return AutoCloseable.class.isAssignableFrom(type)
                && !Collection.class.isAssignableFrom(type)
                && !Map.class.isAssignableFrom(type);
    }

    /** A page of Spring Data is a supplier, and one of its elements. */
    private static boolean isFunction(Class<?> type) {
        return !Iterable.class.isAssignableFrom(type)
                && (type.isInterface() || isWithoutName(type) ? isAnyFunction(type) : isNamedFunction(type));
    }

    private static boolean isAnyFunction(Class<?> type) {
        return isLambda(type)
                || isMarkedAsFunction(type)
                || Arrays.stream(type.getInterfaces()).anyMatch(LateTypes::isMarkedAsFunction) && isWithoutName(type)
                || isOfFunctionPackage(type);
    }

    /** An enum constant, a record or a range, which is a predicate, is a value that can be called, too. */
    private static boolean isNamedFunction(Class<?> type) {
        return !type.isRecord()
                && !Enum.class.isAssignableFrom(type)
                && Stream.of(Supplier.class, Function.class, Consumer.class)
                        .anyMatch(each -> each.isAssignableFrom(type));
    }

    private static boolean isOfFunctionPackage(Class<?> type) {
        return supertypes(type).stream().anyMatch(each -> each.getPackageName().equals("java.util.function"));
    }

    /** A lambda needs no annotation at its interface. A generated subclass is no lambda. */
    private static boolean isLambda(Class<?> type) {
        return type.isHidden() && type.isSynthetic() && type.getSuperclass() == Object.class;
    }

    /** Not inherited: {@code ChronoLocalDate} is a value, but extends a functional interface. */
    private static boolean isMarkedAsFunction(Class<?> type) {
        return type.isAnnotationPresent(FunctionalInterface.class);
    }

    /** Whether it is the class of a lambda, or anonymous. */
    private static boolean isWithoutName(Class<?> type) {
        return type.isHidden() || type.isSynthetic() || type.isAnonymousClass();
    }

    /** The type itself and all its supertypes. */
    private static List<Class<?>> supertypes(Class<?> type) {
        List<Class<?>> all = new ArrayList<>(List.of(type));
        for (int i = 0; i < all.size(); i++) {
            Class<?> each = all.get(i);
            all.addAll(List.of(each.getInterfaces()));
            if (each.getSuperclass() != null) {
                all.add(each.getSuperclass());
            }
        }
        return all;
    }
}
