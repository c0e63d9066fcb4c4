import type { Context } from "hono";

import { notFound } from "../../../lib/failure.ts";
import type { PullContext } from "../../../shapes/pulls/pull-request.ts";
import type { WebEnv } from "../../env.ts";
import { receiveForm, requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { EnteredRepository } from "../repository/enter.ts";
import type { Done } from "./action.ts";
import { findAction } from "./actions.ts";
import type { Refused } from "./issue-head.tsx";

/** A page whose forms name what they do as `action`. */
interface ActingPage<P> {
  enter: () => Promise<P>;
  /** Where an action leads: to what it made, or back to the page. */
  addressAfter: (done: Done) => string;
  /** Shows the page with a form that was refused. */
  showAgain: (page: P, refused: Refused) => Promise<Response>;
}

/** Does what a form of a page asks for; a refusal is shown on the page, with what was typed. */
export async function act<P extends EnteredRepository & { pull?: PullContext }>(
  c: Context<WebEnv>,
  { enter, addressAfter, showAgain }: ActingPage<P>,
): Promise<Response> {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enter();
    const { user } = requireOwn(c, page);
    await requireOwnForm(c, form);
    const { ctx, repo, pull } = page;
    const action = findAction(form.text("action"));
    if (!action) throw notFound();
    const number = Number(c.req.param("number"));
    return orRefuse(
      c,
      async () => {
        const done = (await action({ ctx, repo, number, pull, user, form })) ?? {};
        return redirectAfterWrite(c, addressAfter(done));
      },
      async (refusal) => showAgain(page, { form, refusal }),
    );
  });
}
