package org.apache.log4j;

/** As much of log4j 1 as samples use. */
public class Category {
    public void warn(Object message) {}

    public void error(Object message, Throwable thrown) {}

    public void log(Priority level, Object message) {}
}
