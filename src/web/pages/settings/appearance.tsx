import { type Context, Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";

import type { User } from "../../../db/schema/index.ts";
import { editUser } from "../../../domain/people/accounts/edit-user.ts";
import { invalidField } from "../../../lib/failure.ts";
import type { WebEnv } from "../../env.ts";
import { GeneralFault, SelectField } from "../create/fields.tsx";
import { FormState } from "../create/form-state.ts";
import { Field, Form } from "../layout.tsx";
import { type OwnPage, openOwnPage } from "../open-page.ts";
import { changeOwn } from "./change-own.ts";
import { renderSettings } from "./settings-page.tsx";

const PATH = "/user/settings/appearance";
const LANGUAGE_CHARS_MAX = 20;

/** The colors of pages by the names of Gitea's themes. */
const THEMES = [
  ["", "As your device"],
  ["gitea-light", "Light"],
  ["gitea-dark", "Dark"],
] as const;

const DIFF_STYLES = [
  ["", "Unified, until you choose"],
  ["unified", "Unified: both versions in one column"],
  ["split", "Split: the versions side by side"],
] as const;

/** How pages look to the reader. */
export const appearance = new Hono<WebEnv>({ router: new TrieRouter() });

appearance.get(PATH, async (c) => {
  const page = await openOwnPage(c);
  return renderAppearance(c, page, FormState.fresh(toFields(page.user)));
});

appearance.post(PATH, (c) =>
  changeOwn(
    c,
    async ({ ctx, user }, form) => {
      const diffViewStyle = form.text("diff_view_style");
      const theme = form.text("theme");
      if (!isOneOf(DIFF_STYLES, diffViewStyle)) throw notOfList("diff_view_style");
      // One that a client of the API has set stays.
      if (!isOneOf(THEMES, theme) && theme !== user.theme) throw notOfList("theme");
      const language = form.line("language", LANGUAGE_CHARS_MAX);
      await editUser(ctx, user, { diffViewStyle, theme, language });
      return PATH;
    },
    (page, state) => renderAppearance(c, page, state),
  ),
);

const isOneOf = (list: readonly (readonly [string, string])[], value: string): boolean =>
  list.some(([each]) => each === value);

const notOfList = (field: string) => invalidField(field, "must be one of the list");

const toFields = ({ theme, diffViewStyle, language }: User): Record<string, string> => ({
  theme,
  diff_view_style: diffViewStyle,
  language,
});

function renderAppearance(c: Context<WebEnv>, page: OwnPage, state: FormState) {
  const { user } = page;
  const themes = isOneOf(THEMES, user.theme)
    ? THEMES
    : [...THEMES, [user.theme, `${user.theme}: as your device`] as const];
  return renderSettings(
    c,
    page,
    { part: "appearance", status: state.refusal?.status ?? 200 },
    <section class="card form" aria-labelledby="appearance">
      <h2 id="appearance">Appearance</h2>
      <GeneralFault state={state} fields={["theme", "diff_view_style", "language"]} />
      <Form action={PATH} formToken={page.formToken}>
        <SelectField state={state} label="Colors" name="theme" options={themes} />
        <SelectField state={state} label="Changes" name="diff_view_style" options={DIFF_STYLES} />
        <Field
          label="Language"
          {...state.of("language")}
          maxlength={LANGUAGE_CHARS_MAX}
          hint="Its code, such as en-US, for programs that ask. The pages are in English."
          isOptional
        />
        <button type="submit" class="primary">
          Save
        </button>
      </Form>
    </section>,
  );
}
