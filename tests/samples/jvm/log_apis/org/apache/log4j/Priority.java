package org.apache.log4j;

public class Priority {
    public static final Priority FATAL = new Priority();
}
