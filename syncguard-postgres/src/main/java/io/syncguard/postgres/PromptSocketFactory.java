package io.syncguard.postgres;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import javax.net.SocketFactory;

/**
 * Creates the socket of the connection that receives wake-ups. The driver waits a whole millisecond for a second
 * notification before it delivers the first; this socket answers at once that no more data has arrived. Other reads are
 * unchanged.
 *
 * <p>Public, because the driver instantiates it by name.
 */
public final class PromptSocketFactory extends SocketFactory {

    /** The only method that the driver calls. */
    @Override
    public Socket createSocket() {
        return new PromptSocket();
    }

    @Override
    public Socket createSocket(String host, int port) {
        throw onlyForTheDriver();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
        throw onlyForTheDriver();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
        throw onlyForTheDriver();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) {
        throw onlyForTheDriver();
    }

    private static UnsupportedOperationException onlyForTheDriver() {
        return new UnsupportedOperationException("Made for the PostgreSQL driver, which connects its sockets itself");
    }

    /** The driver calls it under the lock of the connection, for reads as for timeouts. */
    private static final class PromptSocket extends Socket {

        /** The timeout with which the driver checks for more data. All its other timeouts are longer. */
        private static final int LOOK_MILLIS = 1;

        private boolean looking;

        @Override
        public synchronized void setSoTimeout(int millis) throws SocketException {
            super.setSoTimeout(millis);
            looking = millis == LOOK_MILLIS;
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read(byte[] into, int from, int length) throws IOException {
                    if (looking) {
                        // Only the first read: later reads belong to a TLS record that has begun.
                        looking = false;
                        if (in.available() == 0) {
                            throw new SocketTimeoutException("Nothing has arrived");
                        }
                    }
                    return in.read(into, from, length);
                }
            };
        }
    }
}
