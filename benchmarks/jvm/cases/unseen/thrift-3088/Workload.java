import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.sasl.AuthorizeCallback;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import org.apache.thrift.TException;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TSaslServerTransport;
import org.apache.thrift.transport.TServerSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stock that tills sell from, after they have said who they are: Workload SALES …, those of each till. */
public class Workload {
    private static final Logger LOG = LoggerFactory.getLogger("stock");
    private static final int PATIENCE_MS = 4000;
    private static final byte START = 1;
    private static final byte OK = 2;
    private static final byte COMPLETE = 5;

    public static void main(String[] arguments) throws Exception {
        ServerSocket socket = new ServerSocket();
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        TSaslServerTransport.Factory sasl = new TSaslServerTransport.Factory();
        sasl.addServerDefinition("CRAM-MD5", "stock", "localhost", new HashMap<>(), Workload::tell);
        TThreadPoolServer server = new TThreadPoolServer(new TThreadPoolServer.Args(new TServerSocket(socket, 10_000))
                .processor(new Stock(100)).transportFactory(sasl).protocolFactory(new TBinaryProtocol.Factory()));
        Thread thread = new Thread(server::serve, "server");
        thread.setDaemon(true);
        thread.start();

        int hung = 0;
        for (int till = 1; till <= arguments.length; till++) {
            int sales = Integer.parseInt(arguments[till - 1]);
            try (Till client = new Till(socket.getLocalPort())) {
                client.login();
                int left = 0;
                for (int sale = 1; sale <= sales; sale++) {
                    left = client.sell(sale);
                }
                LOG.info("Till {} has sold {} times, {} left", till, sales, left);
                client.logout();
            } catch (SocketTimeoutException e) {
                LOG.error("Till {} hangs: the server neither answers nor hangs up", till);
                hung++;
            } catch (IOException e) {
                LOG.warn("Till {} was cut off: {}", till, e.toString());
            }
        }
        LOG.info("{} tills, {} of them hung", arguments.length, hung);
        System.exit(hung > 0 ? 1 : 0);
    }

    /** Both sides of the authentication. */
    private static void tell(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof NameCallback) {
                ((NameCallback) callback).setName("till");
            } else if (callback instanceof PasswordCallback) {
                ((PasswordCallback) callback).setPassword("secret".toCharArray());
            } else if (callback instanceof AuthorizeCallback) {
                ((AuthorizeCallback) callback).setAuthorized(true);
            }
        }
    }

    /** What a compiler of Thrift would make of `i32 sell(1: i32 pieces)`. */
    private static final class Stock implements TProcessor {
        private int left;

        Stock(int left) {
            this.left = left;
        }

        @Override
        public boolean process(TProtocol in, TProtocol out) throws TException {
            TMessage call = in.readMessageBegin();
            in.readStructBegin();
            for (TField field = in.readFieldBegin(); field.type != TType.STOP; field = in.readFieldBegin()) {
                int pieces = in.readI32();
                synchronized (this) {
                    left -= pieces;
                }
                in.readFieldEnd();
            }
            in.readStructEnd();
            in.readMessageEnd();
            out.writeMessageBegin(new TMessage(call.name, TMessageType.REPLY, call.seqid));
            out.writeStructBegin(new TStruct("sell_result"));
            out.writeFieldBegin(new TField("success", TType.I32, (short) 0));
            out.writeI32(left);
            out.writeFieldEnd();
            out.writeFieldStop();
            out.writeStructEnd();
            out.writeMessageEnd();
            out.getTransport().flush();
            return true;
        }
    }

    /** A client in another language, as it were: it has only the protocol in common with the server. */
    private static final class Till implements AutoCloseable {
        private final Socket socket;
        private final DataInputStream in;
        private int calls;

        Till(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MS);
            in = new DataInputStream(socket.getInputStream());
        }

        void login() throws IOException {
            CallbackHandler handler = Workload::tell;
            Map<String, String> none = Map.of();
            SaslClient client = Sasl.createSaslClient(new String[] {"CRAM-MD5"}, null, "stock", "localhost", none, handler);
            send(START, client.getMechanismName().getBytes(StandardCharsets.UTF_8));
            send(OK, new byte[0]);
            byte status = OK;
            while (status != COMPLETE) {
                status = in.readByte();
                byte[] challenge = new byte[in.readInt()];
                in.readFully(challenge);
                if (status != OK && status != COMPLETE) {
                    throw new IOException("Refused: " + new String(challenge, StandardCharsets.UTF_8));
                }
                if (status == OK) {
                    byte[] response = client.evaluateChallenge(challenge);
                    send(client.isComplete() ? COMPLETE : OK, response);
                }
            }
        }

        int sell(int pieces) throws IOException {
            ByteArrayOutputStream buffer = new ByteArrayOutputStream();
            DataOutputStream call = new DataOutputStream(buffer);
            call.writeInt(0x80010000 | TMessageType.CALL);
            call.writeInt("sell".length());
            call.writeBytes("sell");
            call.writeInt(++calls);
            call.writeByte(TType.I32);
            call.writeShort(1);
            call.writeInt(pieces);
            call.writeByte(TType.STOP);
            send(null, buffer.toByteArray());
            byte[] reply = new byte[in.readInt()];
            in.readFully(reply);
            return new DataInputStream(new ByteArrayInputStream(reply, reply.length - 5, 4)).readInt();
        }

        /** Waits for the server, which is then done with this till before the next one comes. */
        void logout() throws IOException {
            socket.shutdownOutput();
            try {
                in.read();
            } catch (SocketTimeoutException e) {
                LOG.warn("The server does not hang up");
            }
        }

        private void send(Byte status, byte[] payload) throws IOException {
            ByteArrayOutputStream buffer = new ByteArrayOutputStream();
            DataOutputStream frame = new DataOutputStream(buffer);
            if (status != null) {
                frame.writeByte(status);
            }
            frame.writeInt(payload.length);
            frame.write(payload);
            buffer.writeTo(socket.getOutputStream()); // at once
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
