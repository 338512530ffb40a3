package cutset.jvm;

import java.util.StringJoiner;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/** How classes, methods and calls are called in sites, contexts and paths. */
public final class Names {
    // How javac (`lambda$run$0`) and scalac (`$anonfun$run$1`) call the bodies of lambdas.
    private static final String[] LAMBDAS = {"lambda$", "$anonfun$"};

    private Names() {}

    /** {@code org/a/Outer$Inner} is {@code org.a.Outer$Inner}. */
    public static String dotted(String internal) {
        return internal.replace('/', '.');
    }

    /** {@code org/a/Outer$Inner} is {@code Outer$Inner}; arrays as in the source. */
    public static String simple(String internal) {
        if (internal.startsWith("[")) return simple(Type.getObjectType(internal));
        return internal.substring(internal.lastIndexOf('/') + 1);
    }

    /** The package as a folder and the source file, or null if the class file does not tell. */
    public static String path(ClassNode type) {
        if (type.sourceFile == null) return null;
        return type.name.substring(0, type.name.lastIndexOf('/') + 1) + type.sourceFile;
    }

    /** The method's name, with the simple types of its parameters if there are several of that name. */
    public static String function(ClassNode type, MethodNode method) {
        int alike = 0;
        for (MethodNode other : type.methods) if (other.name.equals(method.name) && !isBridge(other)) alike++;
        if (alike < 2 && !isBridge(method)) return method.name;
        StringJoiner parameters = new StringJoiner(",", method.name + "(", ")");
        for (Type parameter : Type.getArgumentTypes(method.desc)) parameters.add(simple(parameter));
        return parameters.toString();
    }

    /** What is called: {@code FileChannel.force}, {@code FileInputStream.<init>}. */
    public static String expression(String owner, String name) {
        return simple(owner) + "." + name;
    }

    /** In a calling context: {@code FileTxnLog.commit}; the body of a lambda is {@code Foo.run.lambda}. */
    public static String inContext(String type, String method) {
        String simple = type.substring(Math.max(type.lastIndexOf('/'), type.lastIndexOf('.')) + 1);
        for (String prefix : LAMBDAS) {
            if (!method.startsWith(prefix)) continue;
            int end = method.indexOf('$', prefix.length());
            return simple + "." + method.substring(prefix.length(), end < 0 ? method.length() : end) + ".lambda";
        }
        return simple + "." + method;
    }

    static boolean isBridge(MethodNode method) {
        return (method.access & Opcodes.ACC_BRIDGE) != 0;
    }

    private static String simple(Type type) {
        if (type.getSort() == Type.ARRAY) {
            StringBuilder text = new StringBuilder(simple(type.getElementType()));
            for (int k = 0; k < type.getDimensions(); k++) text.append("[]");
            return text.toString();
        }
        return type.getSort() == Type.OBJECT ? simple(type.getInternalName()) : type.getClassName();
    }
}
