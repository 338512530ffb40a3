package org.slf4j.spi;

public interface LoggingEventBuilder {
    LoggingEventBuilder setCause(Throwable thrown);

    LoggingEventBuilder addArgument(Object value);

    void log(String message);

    void log(String message, Object value);
}
