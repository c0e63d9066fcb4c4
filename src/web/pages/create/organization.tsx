import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { User, Visibility } from "../../../db/schema/index.ts";
import { findSeenAccount } from "../../../domain/people/accounts/find-account.ts";
import { createOrganization } from "../../../domain/people/orgs/create-organization.ts";
import { notFound } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { accountPath } from "../addresses.ts";
import { type Form as SentForm, readForm } from "../form.ts";
import { Field, Form } from "../layout.tsx";
import { openAdminPage } from "../open-admin-page.ts";
import { openOwnPage, type OwnPage } from "../open-page.ts";
import { orRefuse } from "../or-refuse.ts";
import { redirectAfterWrite } from "../redirect-after-write.ts";
import { renderPage } from "../render-page.tsx";
import { ChoiceField, GeneralFault } from "./fields.tsx";
import { FormState } from "./form-state.ts";

const PATH = "/org/create";

/** The page on which an organization is created. */
export const organizationCreation = new Hono<WebEnv>({ router: new TrieRouter() });

organizationCreation.get(PATH, async (c) => {
  const owner = c.req.query("owner") ?? "";
  return renderCreation(c, await openCreation(c, owner), FormState.fresh({ owner }));
});

/** The reader of the page; an administrator, where somebody else is to own the organization. */
const openCreation = (c: Context<WebEnv>, owner: string): Promise<OwnPage> =>
  owner === "" ? openOwnPage(c) : openAdminPage(c);

organizationCreation.post(PATH, async (c) => {
  const form = await readForm(c);
  const owner = form.text("owner");
  const page = await openCreation(c, owner);
  return orRefuse(
    c,
    async () => {
      const first = owner === "" ? page.user : await findOwner(page, owner);
      const org = await createOrganization(page.ctx, first, toOrganization(form));
      return redirectAfterWrite(c, accountPath(org));
    },
    (refusal) => renderCreation(c, page, FormState.refused(form, refusal)),
    (message) => (/name|exists/.test(message) ? "username" : undefined),
  );
});

/** @throws Failure `not_found` for what is no user. */
async function findOwner({ ctx }: OwnPage, name: string): Promise<User> {
  const found = await findSeenAccount(ctx, name);
  if (found?.kind !== "user") throw notFound();
  return found;
}

/** Who sees an organization. */
export const ORGANIZATION_VISIBILITIES = [
  ["public", "Public", "Everybody sees it."],
  ["limited", "Limited", "People who are signed in see it."],
  ["private", "Private", "Its members see it."],
] as const satisfies readonly (readonly [Visibility, string, string])[];

/** Characters of the fields, as the API has them. */
export const ORGANIZATION_CHARS_MAX = {
  username: 40,
  full_name: 100,
  email: 254,
  description: 255,
  website: 255,
  location: 50,
};

function toOrganization(form: SentForm): Parameters<typeof createOrganization>[2] {
  const line = (name: keyof typeof ORGANIZATION_CHARS_MAX) =>
    form.line(name, ORGANIZATION_CHARS_MAX[name]);
  const visibility = ORGANIZATION_VISIBILITIES.find(
    ([each]) => each === form.text("visibility"),
  )?.[0];
  return {
    name: line("username"),
    fullName: line("full_name"),
    description: line("description"),
    website: line("website"),
    location: line("location"),
    // Nobody sees more of an organization than its creator chose.
    visibility: visibility ?? "private",
  };
}

function renderCreation(c: Context<WebEnv>, page: OwnPage, state: FormState): Promise<Response> {
  const field = (name: keyof typeof ORGANIZATION_CHARS_MAX) => ({
    ...state.of(name),
    maxlength: ORGANIZATION_CHARS_MAX[name],
  });
  const owner = state.of("owner").value;
  return renderPage(
    c,
    page,
    { title: "New Organization", status: state.refusal?.status ?? 200 },
    <section class="card form">
      <h1>New organization</h1>
      <p>An organization owns repositories and packages for a group of people, in teams.</p>
      <GeneralFault state={state} fields={Object.keys(ORGANIZATION_CHARS_MAX)} />
      <Form action={PATH} formToken={page.formToken}>
        {owner === "" ? undefined : (
          <>
            <p>
              {"Its first owner is "}
              <strong>{owner}</strong>.
            </p>
            <input type="hidden" name="owner" value={owner} />
          </>
        )}
        <Field
          label="Name"
          {...field("username")}
          hint="Part of the addresses of its repositories."
          isFirst
        />
        <Field label="Full name" {...field("full_name")} isOptional />
        <Field label="Description" {...field("description")} isOptional />
        <Field label="Website" {...field("website")} isOptional />
        <Field label="Location" {...field("location")} isOptional />
        <ChoiceField
          state={state}
          legend="Visibility"
          name="visibility"
          options={ORGANIZATION_VISIBILITIES}
        />
        <button type="submit" class="primary">
          Create organization
        </button>
      </Form>
    </section>,
  );
}
