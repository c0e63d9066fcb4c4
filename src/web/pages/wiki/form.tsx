import type { Context } from "hono";

import { createPage, deletePage, editPage } from "../../../domain/code/wiki/change-page.ts";
import { findWikiPage, readWiki } from "../../../domain/code/wiki/open-wiki.ts";
import { readWikiPage, type WikiPageEntry } from "../../../domain/code/wiki/read-page.ts";
import { encodeUtf8 } from "../../../git/byte-text.ts";
import { notFound } from "../../../lib/failure.ts";
import { titleOf, toAddress, wholeTitleOf } from "../../../shapes/wiki/wiki-path.ts";
import type { WebEnv } from "../../env.ts";
import { wikiPath } from "../addresses.ts";
import { AsItIs } from "../as-it-is.tsx";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { readForm, receiveForm, requireOwnForm, TEXT_FORM_BYTES_MAX } from "../form.ts";
import { keepText } from "../keep-text.tsx";
import { Field, Form, Notice } from "../layout.tsx";
import { requireOwn } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { readMarkdown } from "../read-markdown.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { TEXT_CHARS_MAX, TEXT_PAGE, TextField, TITLE_CHARS_MAX } from "../text-field.tsx";
import { enterToChange, type EnteredWiki } from "./enter.ts";
import { renderWiki, toText } from "./parts.tsx";

/** Maximum characters of the message of a commit. */
const MESSAGE_CHARS_MAX = 1000;

/** The fields of the form, whose faults stand beside them. */
const FIELDS = ["title", "content", "message"];

/** The form of a new page. */
export async function showNew(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChange(c);
  const title = (c.req.query("title") ?? "").slice(0, TITLE_CHARS_MAX);
  return showForm(c, page, FormState.fresh({ title }), undefined);
}

/** The form that changes a page. */
export async function showEdit(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChange(c);
  const entry = await requireEntry(page);
  const content = toText(entry.text.content) ?? "";
  const fields = { title: titleOf(entry.file.address), content, seen: entry.text.oid };
  return showForm(c, page, FormState.fresh(fields), entry);
}

/** Adds the page that a form describes. */
export const sendNew = (c: Context<WebEnv>): Promise<Response> => send(c, false);

/** Changes a page as a form says. */
export const sendEdit = (c: Context<WebEnv>): Promise<Response> => send(c, true);

/** @param isEdit Whether the path names the page, which exists. */
async function send(c: Context<WebEnv>, isEdit: boolean): Promise<Response> {
  const form = await receiveForm(c, TEXT_FORM_BYTES_MAX);
  return keepText(c, form, async () => {
    const page = await enterToChange(c);
    await requireOwnForm(c, form);
    const { ctx, repo, address } = page;
    const { user } = requireOwn(c, page);
    const folder = isEdit ? address.slice(0, address.lastIndexOf("/") + 1) : "";
    const entry = isEdit ? await findEntry(page, address) : undefined;
    return orRefuse(
      c,
      async () => {
        const title = form.line("title", TITLE_CHARS_MAX);
        const content = readMarkdown(form, "content", false);
        const message = form.line("message", MESSAGE_CHARS_MAX);
        // A form that is sent again, or changes nothing, writes nothing.
        const made = title === "" ? entry : await findEntry(page, folder + toAddress(title));
        if (made && toText(made.text.content) === content) {
          return redirectAfterWrite(c, wikiPath(repo, made.file.address));
        }
        const input = { title, content: encodeUtf8(content), message };
        const changed = isEdit
          ? await editPage(ctx, repo, user, address, input, form.text("seen"))
          : await createPage(ctx, repo, user, input);
        return redirectAfterWrite(c, wikiPath(repo, changed.address));
      },
      (refusal) => showForm(c, page, FormState.refused(form, refusal), entry),
    );
  });
}

/** Asks whether a page is to be deleted. */
export async function showDeletion(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChange(c);
  return askDeletion(c, page, await requireEntry(page));
}

/** Deletes a page, unless somebody has changed it since its deletion was asked. */
export async function sendDeletion(c: Context<WebEnv>): Promise<Response> {
  const page = await enterToChange(c);
  const form = await readForm(c);
  const { ctx, repo, address } = page;
  const { user } = requireOwn(c, page);
  return orRefuse(
    c,
    async () => {
      const message = form.line("message", MESSAGE_CHARS_MAX);
      await deletePage(ctx, repo, user, address, { message, seenOid: form.text("seen") });
      return redirectAfterWrite(c, `${wikiPath(repo)}?action=_pages`);
    },
    async (refusal) => askDeletion(c, page, await requireEntry(page), refusal),
  );
}

function askDeletion(
  c: Context<WebEnv>,
  page: EnteredWiki,
  { file, text }: WikiPageEntry,
  refusal?: { text: string; status: number },
): Promise<Response> {
  const path = wikiPath(page.repo, file.address);
  const title = wholeTitleOf(file.address);
  return renderWiki(
    c,
    page,
    `Delete ${title}`,
    <section class="card form">
      <h2>{`Delete ${title}?`}</h2>
      {refusal ? <Notice kind="error">{refusal.text}</Notice> : undefined}
      <p>Its address leads nowhere then. Its text stays in the history of the wiki.</p>
      <Form action={`${path}?action=_delete`} formToken={page.formToken}>
        <input type="hidden" name="seen" value={text.oid} />
        <Field label="Message" name="message" maxlength={MESSAGE_CHARS_MAX} isOptional />
        <div class="row">
          <button type="submit" class="danger">
            {`Delete ${title}`}
          </button>
          <a class="button" href={path}>
            Cancel
          </a>
        </div>
      </Form>
    </section>,
    refusal ? { status: refusal.status as 409 } : {},
  );
}

/** @param entry The page that the form edits; undefined for a new one. */
function showForm(
  c: Context<WebEnv>,
  page: EnteredWiki,
  state: FormState,
  entry: WikiPageEntry | undefined,
): Promise<Response> {
  const { repo, formToken } = page;
  const address = entry?.file.address;
  const heading = address === undefined ? "New page" : `Edit ${wholeTitleOf(address)}`;
  const path = wikiPath(repo, address);
  const current = entry && toText(entry.text.content);
  const options = { ...TEXT_PAGE, status: state.refusal?.status ?? 200 };
  if (entry && (current === undefined || current.length > TEXT_CHARS_MAX)) {
    return renderWiki(
      c,
      page,
      heading,
      <section class="card">
        <h2>{heading}</h2>
        <p>This page can't be edited here: it is too long, or no text in UTF-8. Use git.</p>
        <a class="button" href={path}>
          Back to the page
        </a>
      </section>,
    );
  }
  return renderWiki(
    c,
    page,
    heading,
    <section class="card form">
      <h2>{heading}</h2>
      <GeneralFault state={state} fields={FIELDS} />
      <Form
        action={entry ? `${path}?action=_edit` : `${wikiPath(repo)}?action=_new`}
        formToken={formToken}
      >
        {entry ? <input type="hidden" name="seen" value={entry.text.oid} /> : undefined}
        <Field
          label="Title"
          {...state.of("title")}
          maxlength={TITLE_CHARS_MAX}
          isFirst={entry === undefined}
          hint={
            entry
              ? "Under another title the page has another address, to which the old one leads."
              : undefined
          }
        />
        <TextField
          repo={repo}
          label="Text"
          {...state.of("content")}
          isFirst={entry !== undefined}
          hint="In Markdown. [[Page]] links another page."
          isOfWiki
        />
        {entry && state.isStale("seen", entry.text.oid) ? (
          <AsItIs what="The page">
            <pre class="message">{current}</pre>
          </AsItIs>
        ) : undefined}
        <Field
          label="Message"
          {...state.of("message")}
          maxlength={MESSAGE_CHARS_MAX}
          hint="What the history says about this change."
          isOptional
        />
        <div class="row">
          <button type="submit" class="primary">
            Save
          </button>
          <a class="button" href={path}>
            Cancel
          </a>
        </div>
      </Form>
    </section>,
    options,
  );
}

/** The page of an address; undefined if there is none. */
async function findEntry(
  { ctx, repo }: EnteredWiki,
  address: string,
): Promise<WikiPageEntry | undefined> {
  return readWiki(ctx, repo, async (wiki) => {
    const file = findWikiPage(wiki, address);
    return file && readWikiPage(wiki, file);
  });
}

/** @throws Failure `not_found` if the path names no page. */
async function requireEntry(page: EnteredWiki): Promise<WikiPageEntry> {
  const entry = await findEntry(page, page.address);
  if (!entry) throw notFound();
  return entry;
}
