package org.slf4j;

import org.slf4j.spi.LoggingEventBuilder;

/** As much of slf4j as samples use. */
public interface Logger {
    boolean isDebugEnabled();

    void debug(String message);

    void info(String message);

    void info(String message, Object value);

    void info(String message, Object one, Object other);

    void warn(String message, Object... values);

    void error(String message, Throwable thrown);

    LoggingEventBuilder atInfo();
}
