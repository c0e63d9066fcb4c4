import type { Result, Router } from "hono/router";

/**
 * The router of an app that is only mounted in another one.
 *
 * Mounting copies routes and indexes them again, so an index of their own would cost start-up time
 * and never be asked.
 */
export class MountedRouter<T> implements Router<T> {
  readonly name = "MountedRouter";

  add(): void {}

  match(): Result<T> {
    throw new Error("a mounted app does not match requests by itself");
  }
}
