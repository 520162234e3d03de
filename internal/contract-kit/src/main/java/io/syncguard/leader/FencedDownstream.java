package io.syncguard.leader;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.syncguard.Fence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/**
 * A service that receives work over HTTP, with a fence. It refuses a fence smaller than the largest that it has seen,
 * and nothing else.
 */
final class FencedDownstream implements AutoCloseable {

    private static final String FENCE = "Fence";

    private final HttpClient client = HttpClient.newHttpClient();
    private final HttpServer server;

    /** Used by the one thread of the server. */
    private long largest;

    FencedDownstream() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
        server.createContext("/", this::receive);
        server.start();
    }

    /** @return the status: 200 or 409 */
    int send(Fence fence) {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/"))
                .header(FENCE, fence.toString())
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        try {
            return client.send(request, BodyHandlers.discarding()).statusCode();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void receive(HttpExchange exchange) throws IOException {
        long fence = Long.parseLong(exchange.getRequestHeaders().getFirst(FENCE));
        boolean accepted = !(fence < largest);
        if (accepted) {
            largest = fence;
        }
        exchange.sendResponseHeaders(accepted ? 200 : 409, -1);
        exchange.close();
    }
}
