import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { FAILURE_STATUS, failureHeaders } from "../../entrance/failure-status.ts";
import { Failure } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";

/** Why a form was refused, for the page that shows it again. */
export interface Refusal {
  text: string;
  status: ContentfulStatusCode;
  /** The field that the reason is about; undefined where it is about none, or not known. */
  field?: string | undefined;
}

const OF_FIELD = /^\[([\w.-]+)\]: (.+)$/;

/** The beginning of the names of fields that a template makes. */
export const TEMPLATE_FIELD = "form-field-";

/** The API's message about a field, `[user_name]: must …`, as a sentence. */
export function toSentence(message: string): string {
  const [, field, rule] = OF_FIELD.exec(message) ?? [];
  if (field === undefined || rule === undefined) return message;
  // Fields of a template stand beside their label.
  if (field.startsWith(TEMPLATE_FIELD)) return `This ${rule}.`;
  const name = field.replaceAll(/[_.]/g, " ");
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)} ${rule}.`;
}

/**
 * Does what a form asks for; where that is refused, shows the form again with the reason.
 *
 * A form that names what does not exist has no page of its own to show again.
 *
 * @param fieldOf The field that a message is about which does not say so.
 */
export async function orRefuse(
  c: Context<WebEnv>,
  work: () => Promise<Response>,
  showAgain: (refusal: Refusal) => Response | Promise<Response>,
  fieldOf: (message: string) => string | undefined = () => undefined,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "not_found") throw error;
    for (const [name, value] of Object.entries(failureHeaders(error))) c.header(name, value);
    return showAgain({
      text: toSentence(error.message),
      status: FAILURE_STATUS[error.kind],
      field: OF_FIELD.exec(error.message)?.[1] ?? fieldOf(error.message),
    });
  }
}
