import type { Context } from "hono";

import type { WebEnv } from "../../env.ts";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";

/**
 * Does what a form of who is signed in asks for, and leads to a page; a refusal is shown with the
 * form.
 *
 * @param work Its result is the path of the page to which the form leads.
 * @param open Authenticates the sender.
 * @param fieldOf As of `orRefuse`.
 */
export async function changeOwn(
  c: Context<WebEnv>,
  work: (page: OwnPage, form: SentForm) => Promise<string>,
  showAgain: (page: OwnPage, state: FormState) => Response | Promise<Response>,
  open: (c: Context<WebEnv>) => Promise<OwnPage> = openOwnPage,
  fieldOf?: (message: string) => string | undefined,
): Promise<Response> {
  const form = await readForm(c);
  const page = await open(c);
  return orRefuse(
    c,
    async () => redirectAfterWrite(c, await work(page, form)),
    (refusal) => showAgain(page, FormState.refused(form, refusal)),
    fieldOf,
  );
}
