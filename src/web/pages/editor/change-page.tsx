import type { Context } from "hono";
import type { Child } from "hono/jsx";

import { findForkContext } from "../../../domain/repos/repository/find-creation-context.ts";
import { forkRepository } from "../../../domain/repos/repository/fork-repository.ts";
import { conflict, notFound } from "../../../lib/failure.ts";
import { requestPath } from "../../../lib/request-path.ts";
import type { RepositoryContext } from "../../../shapes/repos/repository.ts";
import type { WebEnv } from "../../env.ts";
import { GeneralFault, NAME_CHARS_MAX } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { type Form as SentForm, receiveForm, requireOwnForm } from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { Field, Form } from "../layout.tsx";
import { pathAndQuery } from "../open-page.ts";
import { orRefuse, type Refusal } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import type { PageOptions } from "../render-page.tsx";
import { renderRepository } from "../repository/frame.tsx";
import { commitFieldOf, toCommitField } from "./commit-fields.tsx";
import { mayCommit } from "../editor-path.ts";
import { type EditorPage, enterEditor, type EditorPlace } from "./enter.ts";

/** A page that commits one kind of change. */
export interface ChangePage<T> {
  /** Reads what the page shows of the branch and the path of its address. */
  readonly read: (place: EditorPlace, c: Context<WebEnv>) => Promise<T>;
  /** Whether it is not for readers who would commit to their fork. */
  readonly isOfWriters?: boolean;
  /** Maximum bytes of its form. */
  readonly bytesMax: number;
  /** The field that a message of the verb is about. */
  readonly fieldOf?: (message: string) => string | undefined;
  /** Shows the form, or shows it again. */
  readonly show: (
    c: Context<WebEnv>,
    page: EditorPage,
    found: T | undefined,
    state: FormState | undefined,
  ) => Promise<Response>;
  /** Commits to `target` what the form asks for. @returns The path to which it leads. */
  readonly commit: (
    page: EditorPage,
    target: RepositoryContext,
    form: SentForm,
    found: T | undefined,
  ) => Promise<string>;
}

/** Where the address of a page names its branch, with the path below it. */
type PlaceOf = (c: Context<WebEnv>) => string;

export const placeOfPath: PlaceOf = (c) => c.req.param("path") ?? "";

async function enterChange<T>(c: Context<WebEnv>, change: ChangePage<T>, placeOf: PlaceOf) {
  const entered = await enterEditor(c, placeOf(c), (place) => change.read(place, c));
  if (change.isOfWriters && !mayCommit(entered.page.repo)) throw notFound();
  return entered;
}

/** Answers the request for a form, or the form with which a reader makes their fork first. */
export async function showChange<T>(
  c: Context<WebEnv>,
  change: ChangePage<T>,
  placeOf: PlaceOf = placeOfPath,
): Promise<Response> {
  const { page, found } = await enterChange(c, change, placeOf);
  if (!page.target) return showForking(c, page, FormState.fresh({ name: page.repo.row.name }));
  return change.show(c, page, found, undefined);
}

/**
 * Answers a form that was sent: commits, or shows it again with a preview or a refusal.
 *
 * A form without the branch that it was opened for, or for an archive, keeps what was typed.
 */
export async function receiveChange<T>(
  c: Context<WebEnv>,
  change: ChangePage<T>,
  placeOf: PlaceOf = placeOfPath,
): Promise<Response> {
  const form = await receiveForm(c, change.bytesMax);
  return keepText(c, form, async () => {
    const enter = () => enterChange(c, change, placeOf);
    const { page, found } = await enter();
    await requireOwnForm(c, form);
    if (form.text("action") === "fork") return makeFork(c, page, form);
    const target = requireTarget(page);
    return orRefuse(
      c,
      async () =>
        isPreview(form)
          ? change.show(c, page, found, FormState.filled(form, {}))
          : redirectAfterWrite(c, await change.commit(page, target, form, found)),
      async (refusal) => {
        // As it is by now: somebody else may have changed it.
        const now = await enter();
        return change.show(c, now.page, now.found, FormState.refused(form, toOwnFields(refusal)));
      },
      (message) => change.fieldOf?.(message) ?? commitFieldOf(message),
    );
  });
}

/**
 * The repository that gets the commit of a form.
 *
 * @throws Failure `conflict` for a reader whose fork is gone by now: none is made unasked.
 */
export function requireTarget({ target }: EditorPage): RepositoryContext {
  if (!target) throw conflict("Your fork is not there any more, and a change needs one");
  return target;
}

/** Whether a button of the form asks what it would do. */
const isPreview = (form: SentForm): boolean => /^(?:diff|preview)$/.test(form.text("action"));

export const toOwnFields = (refusal: Refusal): Refusal => ({
  ...refusal,
  field: toCommitField(refusal.field),
});

/** Sends a page that changes files. */
export const renderChange = (
  c: Context<WebEnv>,
  page: EditorPage,
  title: string,
  options: Partial<PageOptions>,
  body: Child,
): Response | Promise<Response> =>
  renderRepository(
    c,
    page,
    { ...options, tab: "code", title: `${title} - ${page.repo.owner.name}/${page.repo.row.name}` },
    body,
  );

/** Makes the fork of a reader who may not write to the repository. */
export async function makeFork(
  c: Context<WebEnv>,
  page: EditorPage,
  form: SentForm,
): Promise<Response> {
  const { ctx, user, repo, target } = page;
  return orRefuse(
    c,
    async () => {
      // A form that is sent twice makes one fork.
      if (!target) {
        const creation = await findForkContext(ctx, user, undefined);
        await forkRepository(ctx, repo, creation, { name: form.line("name", NAME_CHARS_MAX) });
      }
      return redirectAfterWrite(c, pathAndQuery(c));
    },
    (refusal) => showForking(c, page, FormState.refused(form, refusal)),
    (message) => (/name/i.test(message) ? "name" : undefined),
  );
}

function showForking(
  c: Context<WebEnv>,
  page: EditorPage,
  state: FormState,
): Response | Promise<Response> {
  const { repo, user, formToken } = page;
  const names = `${repo.owner.name}/${repo.row.name}`;
  return renderChange(
    c,
    page,
    "Fork first",
    { status: state.refusal?.status ?? 200 },
    <section class="card form">
      <h2>Propose a change</h2>
      <p>
        {`You may not write to ${names}. Make a fork of your own first: your change goes to a new branch there, from which a pull request is opened here.`}
      </p>
      <GeneralFault state={state} fields={["name"]} />
      <Form action={requestPath(c.req.url)} formToken={formToken}>
        <input type="hidden" name="action" value="fork" />
        <Field
          label="Name of the fork"
          {...state.of("name")}
          hint={`It is made as ${user.name}/…`}
          maxlength={NAME_CHARS_MAX}
        />
        <button type="submit" class="primary">
          Fork and go on
        </button>
      </Form>
    </section>,
  );
}
