package cutset.jvm.extract;

import cutset.jvm.Names;
import org.objectweb.asm.Handle;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;

/** Lambdas and references to methods: the `invokedynamic` that makes one names the method that will run. */
final class Lambdas {
    private Lambdas() {}

    /** The method that runs, or null if this makes no lambda. */
    static Handle body(AbstractInsnNode each) {
        if (!(each instanceof InvokeDynamicInsnNode)) return null;
        InvokeDynamicInsnNode made = (InvokeDynamicInsnNode) each;
        boolean isLambda = made.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory") && made.bsmArgs.length > 1;
        return isLambda && made.bsmArgs[1] instanceof Handle ? (Handle) made.bsmArgs[1] : null;
    }

    static String name(Handle body) {
        return Names.dotted(body.getOwner()) + "." + body.getName() + " " + body.getDesc();
    }
}
