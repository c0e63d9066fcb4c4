import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import {
  BADGE_SLUG,
  createBadge,
  deleteBadge,
  listBadges,
} from "../../../domain/people/badges/badges.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { ConfirmMenu } from "../confirm-menu.tsx";
import { GeneralFault } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import type { OwnPage } from "../open-page.ts";
import { Pager, readListPage } from "../pager.tsx";
import { ADMIN_PATH, changeAsAdmin, renderAdmin } from "./admin-page.tsx";
import { openAdminPage } from "../open-admin-page.ts";

const PATH = `${ADMIN_PATH}/badges`;
const PAGE_SIZE = 50;
const CHARS_MAX = { slug: 50, description: 255, image_url: 2048 } as const;

/** The badges that users may be given. */
export const badges = new Hono<WebEnv>({ router: new TrieRouter() });

badges.get(PATH, async (c) => renderBadges(c, await openAdminPage(c), FormState.fresh()));

badges.post(PATH, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx }, form) => {
      const slug = form.line("slug", CHARS_MAX.slug);
      if (!BADGE_SLUG.test(slug)) {
        throw invalidField("slug", "must consist of lower-case letters, digits and dashes");
      }
      const description = form.line("description", CHARS_MAX.description);
      await createBadge(ctx, {
        slug,
        description,
        imageUrl: form.line("image_url", CHARS_MAX.image_url),
      });
      return PATH;
    },
    (page, state) => renderBadges(c, page, state),
  ),
);

badges.post(`${PATH}/delete`, (c) =>
  changeAsAdmin(
    c,
    async ({ ctx }, form) => {
      await deleteBadge(ctx, form.text("slug"));
      return PATH;
    },
    (page, { refusal }) => renderBadges(c, page, FormState.fresh({}, refusal)),
  ),
);

async function renderBadges(c: Context<WebEnv>, page: OwnPage, state: FormState) {
  const list = readListPage(c, PAGE_SIZE);
  const { items, total } = await listBadges(page.ctx, list);
  return renderAdmin(
    c,
    page,
    { part: "badges", status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="badges">
      <h2 id="badges">Badges</h2>
      <p>Marks of honor. A user is given them on the page of the user.</p>
      <ul class="list">
        {items.map(({ slug, description }) => (
          <li>
            <div class="grow">
              <code>{slug}</code> {description}
            </div>
            <ConfirmMenu
              label="Delete"
              subject={slug}
              action={`${PATH}/delete`}
              formToken={page.formToken}
              fields={{ slug }}
              button={`Delete ${slug}`}
            >
              <p>All of its users lose it.</p>
            </ConfirmMenu>
          </li>
        ))}
      </ul>
      <Pager url={c.req.url} page={list} total={total} />
      <h3>New badge</h3>
      <GeneralFault state={state} fields={Object.keys(CHARS_MAX)} />
      <Form action={PATH} formToken={page.formToken}>
        <Field
          label="Slug"
          {...state.of("slug")}
          maxlength={CHARS_MAX.slug}
          hint="Lower-case letters, digits and dashes."
        />
        <Field
          label="Description"
          {...state.of("description")}
          maxlength={CHARS_MAX.description}
          isOptional
        />
        <Field
          label="Address of its image"
          {...state.of("image_url")}
          maxlength={CHARS_MAX.image_url}
          isOptional
        />
        <button type="submit" class="primary">
          Create badge
        </button>
      </Form>
    </section>,
  );
}
