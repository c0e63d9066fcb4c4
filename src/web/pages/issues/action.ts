import type { Ctx } from "../../../context.ts";
import type { User } from "../../../db/schema/index.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { Form } from "../form.ts";

/** A form of a conversation that was sent. */
export interface Sent {
  ctx: Ctx;
  repo: RepositoryContext;
  /** The number of the issue. */
  number: number;
  /** Undefined for an issue. */
  pull: PullContext | undefined;
  user: User;
  form: Form;
}

/** What a form does. */
export type Action = (sent: Sent) => Promise<Done | void>;

/** Where the page leads after an action: to an anchor of the conversation, or to another page. */
export interface Done {
  anchor?: string;
  entryId?: number;
  path?: string;
}

/** The field of a form for a title with the one that its sender has seen. */
export const FORMER_TITLE = "former_title";
