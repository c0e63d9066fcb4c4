import type { Outgoing } from "../outgoing/outgoing.ts";
import { RemoteFailure } from "../outgoing/remote-failure.ts";
import type { StepAnswers } from "./step-answers.ts";

/** The parts of the service that readers of forges need. */
export interface ForgeAccess {
  readonly outgoing: Outgoing;
  /** The time, in milliseconds. */
  readonly now: () => number;
  /** The stored answers to the present step, which continues after them. */
  readonly answers?: StepAnswers | undefined;
}

/** Where a project of a forge is, and with which credentials it is read. */
export interface ForgeAddress {
  /** The address of its page or git repository: `http:` or `https:`, without credentials. */
  readonly url: string;
  /** "" for none, as is the password; a password without a user name is a token. */
  readonly username: string;
  readonly password: string;
}

/** A project of a forge whose projects are at `owner/name`. */
export interface ProjectPath {
  /** The forge itself, without a slash at its end: it may be below a path of its host. */
  readonly rootUrl: string;
  readonly owner: string;
  readonly name: string;
}

/**
 * Parses the address of a project, as its page or as its git repository has it.
 *
 * @throws RemoteFailure `not_found` if it has no owner and name.
 */
export function parseProjectPath({ url: text }: ForgeAddress): ProjectPath {
  const url = URL.parse(text);
  const parts = url?.pathname.split("/").filter((part) => part !== "") ?? [];
  const [owner, name] = parts.slice(-2).map(decoded);
  if (!url || !owner || !name) {
    throw new RemoteFailure("not_found", "the address is not that of a project");
  }
  const root = parts.slice(0, -2).map((part) => `/${part}`);
  return { rootUrl: `${url.origin}${root.join("")}`, owner, name: name.replace(/\.git$/, "") };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
