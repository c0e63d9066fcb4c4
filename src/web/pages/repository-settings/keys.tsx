import { listDeployKeys } from "../../../domain/people/keys/list-ssh-keys.ts";
import { addDeployKey, removeDeployKey } from "../../../domain/people/keys/ssh-keys.ts";
import { invalidField } from "../../../lib/failure.ts";
import { AreaField, CheckField } from "../create/fields.tsx";
import { Field } from "../layout.tsx";
import { ActionForm, AskingForm } from "../owner-settings/settings-frame.tsx";
import { Pager, readListPage } from "../pager.tsx";
import { readId } from "../read-id.ts";
import { Time } from "../time.tsx";
import { type RepositorySettingsPart, SETTINGS } from "./page.tsx";

const PAGE_SIZE = 50;
const CHARS_MAX = { title: 255, key: 16_384 };

/** The keys by which machines reach a repository. */
export const deployKeys: RepositorySettingsPart = {
  path: `${SETTINGS}/keys`,
  async show(page, forms, c) {
    const { ctx, repo, path } = page;
    const list = readListPage(c, PAGE_SIZE);
    const { items, total } = await listDeployKeys(ctx, repo.row, { fingerprint: "" }, list);
    const state = forms.of("add");
    const to = `${path}/keys`;
    return {
      title: "Deploy keys",
      link: "/keys",
      body: (
        <section class="card" aria-label="Deploy keys">
          <p>{total === 0 ? "There are no deploy keys." : `${total} in all, oldest first.`}</p>
          <p class="soft">
            They are kept for programs that manage them: git takes no SSH keys here. A token that is
            bound to this repository <a href="/user/settings/tokens">does their work</a>.
          </p>
          <ul class="list">
            {items.map(({ id, title, fingerprint, isReadOnly, createdAt }) => (
              <li>
                <div class="grow">
                  <div>
                    {title} <span class="label">{isReadOnly ? "Read only" : "Read and write"}</span>
                  </div>
                  <div class="soft">
                    {fingerprint}. Added <Time at={createdAt} />.
                  </div>
                </div>
                <AskingForm
                  page={page}
                  to={to}
                  action="delete"
                  fields={{ id }}
                  label="Remove"
                  about={title}
                />
              </li>
            ))}
          </ul>
          <Pager url={c.req.url} page={list} total={total} />
          <h3>Add a key</h3>
          <ActionForm page={page} to={to} action="add">
            <Field label="Title" {...state.of("title")} maxlength={CHARS_MAX.title} />
            <AreaField
              state={state}
              label="Public key"
              name="key"
              hint="As in ~/.ssh/id_ed25519.pub."
              isOptional={false}
            />
            <CheckField state={state} label="It may write, too" name="is_writable" />
            <button type="submit" class="primary">
              Add deploy key
            </button>
          </ActionForm>
        </section>
      ),
    };
  },
  actions: {
    async add({ ctx, repo, user, path }, form) {
      const title = form.line("title", CHARS_MAX.title);
      if (title === "") throw invalidField("title", "must not be empty");
      const key = form.line("key", CHARS_MAX.key);
      const isReadOnly = !form.isSet("is_writable");
      await addDeployKey(ctx, user, repo.row, { title, key, isReadOnly });
      return `${path}/keys`;
    },
    async delete({ ctx, repo, path }, form) {
      await removeDeployKey(ctx, repo.row, readId(form.text("id")));
      return `${path}/keys`;
    },
  },
  fieldOf: (message) => {
    if (/title/i.test(message)) return "title";
    return /key/i.test(message) ? "key" : undefined;
  },
};
