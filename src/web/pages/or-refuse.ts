import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

import { FAILURE_STATUS, failureHeaders } from "../../entrance/failure-status.ts";
import { Failure } from "../../lib/failure.ts";
import type { WebEnv } from "../env.ts";
import { fieldOfMessage, toFault, toSentence } from "./to-sentence.ts";

/** Why a form was refused, for the page that shows it again. */
export interface Refusal {
  text: string;
  status: ContentfulStatusCode;
  /** The field that the reason is about; undefined where it is about none, or not known. */
  field?: string | undefined;
  /** What stands at that field. */
  fault: string;
}

/** The beginning of the names of fields that a template makes. */
export const TEMPLATE_FIELD = "form-field-";

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
      field: fieldOfMessage(error.message) ?? fieldOf(error.message),
      fault: toFault(error.message),
    });
  }
}
