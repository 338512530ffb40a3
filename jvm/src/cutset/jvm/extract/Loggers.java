package cutset.jvm.extract;

import cutset.jvm.Names;
import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.analysis.SourceValue;

/** Names of loggers, by the field they are in. */
final class Loggers {
    private final Program program;
    private final Constants constants;
    private final Map<String, Logger> known = new HashMap<>();

    static final class Logger {
        String name; // null: not known
        boolean isPlain = true; // what it writes begins with the message
    }

    Loggers(Program program, Constants constants) {
        this.program = program;
        this.constants = constants;
    }

    Logger of(SourceValue receiver) {
        AbstractInsnNode origin = Code.only(receiver);
        if (origin instanceof MethodInsnNode) origin = accessed((MethodInsnNode) origin);
        if (!(origin instanceof FieldInsnNode)) return new Logger();
        FieldInsnNode field = (FieldInsnNode) origin;
        String key = field.owner + "." + field.name;
        Logger logger = known.get(key);
        if (logger == null) known.put(key, logger = read(field));
        return logger;
    }

    /** What an accessor reads: before Java 11, nested classes need one. */
    private AbstractInsnNode accessed(MethodInsnNode call) {
        Code accessor = call.name.startsWith("access$") ? program.code(call.owner, call.name, call.desc) : null;
        if (accessor == null) return null;
        for (AbstractInsnNode each : accessor.flow.instructions) if (each instanceof FieldInsnNode) return each;
        return null;
    }

    private Logger read(FieldInsnNode field) {
        Logger logger = new Logger();
        Constants.Write write = constants.onlyWrite(field);
        AbstractInsnNode origin = write == null ? null : Code.only(write.value);
        if (origin != null && write.code.isParameter(origin)) logger.isPlain = false; // it may be anybody's
        if (!(origin instanceof MethodInsnNode)) return logger;
        MethodInsnNode made = (MethodInsnNode) origin;
        logger.isPlain = made.getOpcode() == Opcodes.INVOKESTATIC; // `LogContext` puts who logs in front
        if (field.getOpcode() != Opcodes.GETSTATIC) return logger;
        Type[] types = Type.getArgumentTypes(made.desc);
        AbstractInsnNode of = types.length == 0 ? null : Code.only(write.code.arguments(write.code.index(made)).get(0));
        if (of instanceof LdcInsnNode) {
            Object constant = ((LdcInsnNode) of).cst;
            logger.name = constant instanceof Type ? ((Type) constant).getClassName() : String.valueOf(constant);
        } else if (types.length == 0 || of instanceof MethodInsnNode && isItself((MethodInsnNode) of)) {
            logger.name = Names.dotted(field.owner);
        } else if (of instanceof MethodInsnNode && ((MethodInsnNode) of).owner.equals("java/lang/Class")) {
            AbstractInsnNode type = Code.only(write.code.receiver(write.code.index(of))); // `Foo.class.getName()`
            if (type instanceof LdcInsnNode && ((LdcInsnNode) type).cst instanceof Type)
                logger.name = ((Type) ((LdcInsnNode) type).cst).getClassName();
        }
        return logger;
    }

    private static boolean isItself(MethodInsnNode call) {
        return call.name.equals("lookupClass");
    }
}
