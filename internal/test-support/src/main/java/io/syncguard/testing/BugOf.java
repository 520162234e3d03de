package io.syncguard.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Names a bug of another lock library that the test keeps out of this one. */
@Documented
@Target(ElementType.METHOD)
public @interface BugOf {

    /** The library, with a description of the bug. */
    String value();
}
