import { routePath } from "hono/route";

import type { PathSubject } from "../../entrance/refuse-in-step.ts";
import type { GuardContext } from "./guard.ts";

/** The part of a route's pattern below the repository. */
const BELOW = /\/repos\/:[^/]+\/:[^/]+\/(.*)$/;

/**
 * The subject of a request below its repository; undefined for anything but issues and their parts.
 *
 * SECURITY: by the route, not by the text of the path, which may be percent-encoded.
 */
export function subjectOf(c: GuardContext): PathSubject | undefined {
  const [noun, name, part] = BELOW.exec(routePath(c))?.[1]?.split("/") ?? [];
  if (noun === "labels" || noun === "milestones") return { kind: noun };
  if (noun !== "issues") return undefined;
  if (name === "comments") return { kind: "comment", id: numberIn(c, "id") };
  if (part === "subscriptions") return { kind: "own" };
  return { kind: "issue", number: name === undefined ? undefined : numberIn(c, "index") };
}

/** The number of a parameter; 0, which nothing has, for what is no number. */
function numberIn(c: GuardContext, parameter: "index" | "id"): number {
  const value = Number(c.req.param(parameter));
  return Number.isSafeInteger(value) ? value : 0;
}
