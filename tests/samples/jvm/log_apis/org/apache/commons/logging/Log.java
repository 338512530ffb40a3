package org.apache.commons.logging;

/** As much of commons-logging as samples use. */
public interface Log {
    void info(Object message);

    void fatal(Object message, Throwable thrown);
}
