import { Failure } from "../../../lib/failure.ts";

/** The reason for which a rule refuses an update, with its subject. */
export type Forbidden =
  | {
      readonly kind:
        | "default-branch"
        | "deletion"
        | "force-push"
        | "force-pusher"
        | "merge-queue"
        | "pusher"
        | "tag"
        | "too-much";
    }
  | { readonly kind: "unverified"; readonly commitOid: string }
  | { readonly kind: "file"; readonly path: string };

/**
 * A ref update that a rule for branches or tags refuses. The message is what git shows; the API's
 * operations have words of their own for some of them.
 */
export class ProtectedRef extends Failure {
  readonly forbidden: Forbidden;

  /** @param name The short name of the branch or tag. */
  constructor(name: string, forbidden: Forbidden) {
    super("forbidden", toMessage(name, forbidden));
    this.forbidden = forbidden;
  }
}

/** In Gitea's words, which clients show to those who push. */
function toMessage(name: string, forbidden: Forbidden): string {
  switch (forbidden.kind) {
    case "default-branch":
      return wordDefault(name);
    case "deletion":
      return `branch ${name} is protected from deletion`;
    case "force-push":
      return `branch ${name} is protected from force push`;
    case "force-pusher":
      return `Not allowed to force-push to protected branch ${name}`;
    case "merge-queue":
      return `branch ${name} belongs to a merge queue: only the service writes it`;
    case "pusher":
      return `Not allowed to push to protected branch ${name}`;
    case "unverified":
      return `branch ${name} is protected from unverified commit ${forbidden.commitOid}`;
    case "file":
      return `branch ${name} is protected from changing file ${forbidden.path}`;
    case "tag":
      return `Tag ${name} is protected`;
    case "too-much":
      return `${name} is protected, and the push is too large to compare with its rules`;
    default:
      return forbidden satisfies never;
  }
}

/** Why the default branch stays. */
export const wordDefault = (name: string): string =>
  `branch ${name} is the default branch and cannot be deleted`;

/**
 * Awaits work that updates refs, and words the refusal of a rule as an operation of the API does.
 */
export async function rewordRefusal<T>(
  work: Promise<T>,
  toFailure: (refusal: ProtectedRef) => Failure,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ProtectedRef ? toFailure(error) : error;
  }
}
