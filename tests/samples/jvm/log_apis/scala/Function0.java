package scala;

/** As a lambda of Scala looks to the JVM. */
public interface Function0<T> {
    T apply();
}
