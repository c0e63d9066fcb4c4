import type { Result, Router } from "hono/router";

/**
 * The router of an app that is only mounted in another app.
 *
 * Mounting copies the routes into the outer app's router, so an index here would cost start-up time
 * and never be used.
 */
export class MountedRouter<T> implements Router<T> {
  readonly name = "MountedRouter";

  add(): void {}

  match(): Result<T> {
    throw new Error("a mounted app does not match requests by itself");
  }
}
