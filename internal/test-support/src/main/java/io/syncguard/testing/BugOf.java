package io.syncguard.testing;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Names a bug that another lock library has had, and that the test keeps out of this one. */
@Documented
@Target(ElementType.METHOD)
public @interface BugOf {

    /** The library, and what the bug was. */
    String value();
}
