package cutset.jvm;

import java.util.List;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** A site of a class, and where it is in a method's code. */
public final class FoundSite {
    public final String function;
    public final String expression;
    public final int ordinal;
    public final int line; // the smallest of its copies
    public final boolean raise;
    public final MethodNode method;
    public final List<AbstractInsnNode> places; // a visit is right before each of them
    public final List<AbstractInsnNode> statements; // the calls, or the `athrow`s, that it is about
    public final String calleeOwner; // of a throw: the class of the exception
    public final String calleeName;
    public final String calleeDescriptor;

    FoundSite(
            String function,
            String expression,
            int ordinal,
            int line,
            MethodNode method,
            List<AbstractInsnNode> places,
            List<AbstractInsnNode> statements,
            SiteFinder.Candidate what) {
        this.function = function;
        this.expression = expression;
        this.ordinal = ordinal;
        this.line = line;
        this.raise = what.raise;
        this.method = method;
        this.places = places;
        this.statements = statements;
        this.calleeOwner = what.owner;
        this.calleeName = what.name;
        this.calleeDescriptor = what.descriptor;
    }

    @Override
    public String toString() {
        return function + "::" + expression + (ordinal > 0 ? "#" + ordinal : "");
    }
}
