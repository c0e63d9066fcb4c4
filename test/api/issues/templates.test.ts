import { describe, expect, it } from "vitest";

import { MODE_SYMLINK } from "../../../src/git/object/tree.ts";
import { disableCode } from "../../support/disable-code.ts";
import { call } from "../../support/call.ts";
import { makeFiles, type TestFile } from "../../support/files.ts";
import { make, type TestRepo, type TestUser } from "../../support/make.ts";
import { push } from "../../support/push.ts";
import { logged } from "../../support/usage.ts";

const pathOf = ({ owner, name }: TestRepo, rest: string) => `/repos/${owner}/${name}/${rest}`;

async function makePushed(
  files: Record<string, TestFile>,
  fields: Parameters<typeof make.repo>[1] = {},
) {
  const owner = await make.user();
  const repo = await make.repo(owner, fields);
  const made = makeFiles(files);
  await push(owner, repo, made.oid, made.pack);
  return { owner, repo };
}

const list = async (files: Record<string, TestFile>) => {
  const { repo } = await makePushed(files);
  return (await call("GET", pathOf(repo, "issue_templates"))).body;
};

const BUG = `---
name: Bug
description: Something is wrong
title: "[bug] "
labels: bug, "needs triage"
assignees: [ada]
ref: main
---

What happened?
`;

const FORM = `name: Wish
about: Something is missing
labels: [wish]
body:
  - type: markdown
    attributes: { value: Thank you }
  - type: textarea
    id: what
    attributes: { label: What, render: shell }
    validations: { required: true }
  - type: input
    attributes: { label: Since when, placeholder: "1.0" }
    validations: { is_number: true }
  - type: dropdown
    id: where
    attributes: { label: Where, multiple: true, options: [here, there] }
  - type: checkboxes
    id: sure
    attributes: { label: Sure, options: [{ label: I looked, required: true }] }
    visible: [form]
`;

describe("GET /repos/{owner}/{repo}/issue_templates", () => {
  it("lists Markdown templates and forms with their front matter", async () => {
    const { repo } = await makePushed({
      ".gitea/ISSUE_TEMPLATE/bug.md": BUG,
      ".gitea/ISSUE_TEMPLATE/config.yaml": "blank_issues_enabled: false\n",
      ".gitea/ISSUE_TEMPLATE/readme.txt": "no template",
      ".github/issue_template/wish.yml": FORM,
      "ISSUE_TEMPLATE/plain.md": "Tell us all about it",
    });
    const { answer, line } = await logged(() => call("GET", pathOf(repo, "issue_templates")));
    expect(answer.status).toBe(200);
    const [plain, bug, wish] = answer.body;
    expect(answer.body).toHaveLength(3);
    expect(plain).toEqual({
      name: "plain.md",
      title: "",
      about: "Tell us all about it",
      labels: [],
      assignees: [],
      ref: "",
      content: "Tell us all about it",
      body: null,
      file_name: "ISSUE_TEMPLATE/plain.md",
    });
    expect(bug).toEqual({
      name: "Bug",
      title: "[bug] ",
      about: "Something is wrong",
      labels: ["bug", '"needs triage"'],
      assignees: ["ada"],
      ref: "refs/heads/main",
      content: "\nWhat happened?\n",
      body: null,
      file_name: ".gitea/ISSUE_TEMPLATE/bug.md",
    });
    expect(wish).toMatchObject({ name: "Wish", about: "Something is missing", content: "" });
    const both = ["form", "content"];
    expect(wish.body).toEqual([
      {
        type: "markdown",
        id: "0",
        attributes: { value: "Thank you" },
        validations: {},
        visible: ["form"],
      },
      {
        type: "textarea",
        id: "what",
        attributes: { label: "What", render: "shell" },
        validations: { required: true },
        visible: both,
      },
      {
        type: "input",
        id: "2",
        attributes: { label: "Since when", placeholder: "1.0" },
        validations: { is_number: true },
        visible: both,
      },
      {
        type: "dropdown",
        id: "where",
        attributes: { label: "Where", multiple: true, options: ["here", "there"] },
        validations: {},
        visible: both,
      },
      {
        type: "checkboxes",
        id: "sure",
        attributes: { label: "Sure", options: [{ label: "I looked", required: true }] },
        validations: {},
        visible: ["form"],
      },
    ]);
    expect(line).toMatchObject({ objectCalls: 1, d1Rounds: 1 });
  });

  it("omits invalid templates", async () => {
    const field = (text: string) => `name: a\nabout: b\nbody:\n  - ${text}\n`;
    const wrong = [
      "",
      "a: [",
      "[".repeat(60_000),
      "name: a\nabout: b\n",
      "name: a\nabout: b\nbody: []\n",
      "about: b\nbody: [{type: markdown, attributes: {value: a}}]\n",
      "name: a\nbody: [{type: markdown, attributes: {value: a}}]\n",
      field("{type: nothing, attributes: {label: a}}"),
      field("{type: markdown, attributes: {value: ' '}}"),
      field("{type: input, attributes: {}}"),
      field("{type: input, id: 'a b', attributes: {label: a}}"),
      field("{type: input, attributes: {label: a}, validations: {required: yes please}}"),
      field("{type: dropdown, attributes: {label: a, options: []}}"),
      field("{type: dropdown, attributes: {label: a, options: [[a]]}}"),
      field("{type: checkboxes, attributes: {label: a, options: [a]}}"),
      field("{type: input, attributes: {label: a}, visible: [nowhere]}"),
      field(
        "{type: input, attributes: {label: a}, visible: [content], validations: {required: true}}",
      ),
      field("{type: dropdown, attributes: {label: a, options: [a], list: perhaps}}"),
      field("{type: dropdown, attributes: {label: a, options: [a], default: 1}}"),
      field("{type: dropdown, attributes: {label: a, options: [a], default: -1}}"),
      field("{type: dropdown, attributes: {label: a, options: [a], default: a}}"),
      field("{type: checkboxes, attributes: {label: a, options: [{label: a, visible: [x]}]}}"),
      field(
        "{type: checkboxes, attributes: {label: a, options: [{label: a, required: true, visible: [content]}]}}",
      ),
      `${field("{type: input, id: x, attributes: {label: a}}")}  - {type: input, id: x, attributes: {label: b}}\n`,
      `a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n${field("{type: markdown, attributes: {value: *b}}")}`,
      `name: a\nabout: b\nx: ${"y".repeat(70_000)}\nbody: [{type: markdown, attributes: {value: a}}]\n`,
    ];
    const files = wrong.map((text, at): [string, TestFile] => [
      `.gitea/ISSUE_TEMPLATE/${at}.yaml`,
      text,
    ]);
    const listed = await list({
      ...Object.fromEntries(files),
      ".gitea/ISSUE_TEMPLATE/empty.md": " \n",
      ".gitea/ISSUE_TEMPLATE/link.md": { mode: MODE_SYMLINK, content: "../../fine.md" },
      ".gitea/ISSUE_TEMPLATE/nameless.md": "---\nabout: a\n---\nb\n",
      ".gitea/ISSUE_TEMPLATE/below/deep.md": BUG,
      ".gitea/ISSUE_TEMPLATE/fine.yaml": field("{type: markdown, attributes: {value: a}}"),
      "fine.md": BUG,
    });
    expect(listed).toMatchObject([{ file_name: ".gitea/ISSUE_TEMPLATE/fine.yaml" }]);
  });

  it("counts invalid templates in a header, and reads the same tree once", async () => {
    const { repo } = await makePushed({
      ".gitea/ISSUE_TEMPLATE/config.yaml": "a: [",
      ".gitea/ISSUE_TEMPLATE/fine.md": BUG,
      ".gitea/ISSUE_TEMPLATE/nameless.md": "---\nabout: a\n---\nb\n",
      ".gitea/ISSUE_TEMPLATE/link.md": { mode: MODE_SYMLINK, content: "../../fine.md" },
      ".github/ISSUE_TEMPLATE/broken.yml": "a: [",
      "ISSUE_TEMPLATE.md": "a single template is for pages",
    });
    const ask = () => call("GET", pathOf(repo, "issue_templates"));
    const first = await ask();
    expect(first.headers.get("X-Gitea-Warning")).toBe(
      "error occurs when parsing issue template: count=2",
    );
    expect(first.body).toMatchObject([{ name: "Bug" }]);
    const { answer, line } = await logged(ask);
    expect(answer.body).toEqual(first.body);
    expect(answer.headers.get("X-Gitea-Warning")).toBe(first.headers.get("X-Gitea-Warning"));
    expect(line.steps).toBe(0);

    const { repo: clean } = await makePushed({ ".gitea/ISSUE_TEMPLATE/fine.md": BUG });
    const { headers } = await call("GET", pathOf(clean, "issue_templates"));
    expect(headers.get("X-Gitea-Warning")).toBeNull();
  });

  it("lists all directories, in the order in which they are searched", async () => {
    const directories = [
      "ISSUE_TEMPLATE",
      "issue_template",
      ".gitea/ISSUE_TEMPLATE",
      ".gitea/issue_template",
      ".github/ISSUE_TEMPLATE",
      ".github/issue_template",
      ".gitlab/ISSUE_TEMPLATE",
      ".gitlab/issue_template",
    ];
    const listed = await list(
      Object.fromEntries(directories.map((directory) => [`${directory}/a.md`, BUG])),
    );
    expect(listed.map((each: { file_name: string }) => each.file_name)).toEqual(
      directories.map((directory) => `${directory}/a.md`),
    );
  });

  it("is empty without templates, and requires read access to the code", async () => {
    const empty = await make.repo(await make.user());
    const rests = ["issue_templates", "issue_config", "issue_config/validate"];
    const answers = await Promise.all(rests.map((rest) => call("GET", pathOf(empty, rest))));
    expect(answers.map(({ body }) => body)).toEqual([
      [],
      { blank_issues_enabled: true, contact_links: [] },
      { valid: true, message: "" },
    ]);
    const { owner, repo } = await makePushed({ a: "a" }, { isPrivate: true });
    const stranger = await make.user();
    for (const rest of rests) {
      expect((await call("GET", pathOf(repo, rest))).status).toBe(404);
      expect((await call("GET", pathOf(repo, rest), { as: stranger })).status).toBe(404);
      expect((await call("GET", pathOf(repo, rest), { as: owner })).status).toBe(200);
    }
    await disableCode(repo);
    for (const rest of rests) {
      expect((await call("GET", pathOf(repo, rest))).status).toBe(404);
      expect((await call("GET", pathOf(repo, rest), { as: owner })).status).toBe(200);
    }
  });
});

describe("an issue without a template", () => {
  const NO_BLANK = { ".gitea/ISSUE_TEMPLATE/config.yaml": "blank_issues_enabled: false\n" };
  const open = (repo: TestRepo, as: TestUser) =>
    call("POST", pathOf(repo, "issues"), { as, json: { title: "It rains" } });
  const warningOf = async (repo: TestRepo, as: TestUser) => {
    const { status, headers } = await open(repo, as);
    expect(status).toBe(201);
    return headers.get("X-Gitea-Warning");
  };
  const WARNING = "blank issues are disabled by .gitea/ISSUE_TEMPLATE/config.yaml: use a template";

  it("is accepted where the configuration asks for one, with a warning that names it", async () => {
    const { repo } = await makePushed({ ...NO_BLANK, ".github/ISSUE_TEMPLATE/bug.md": BUG });
    const reader = await make.user();
    expect(await warningOf(repo, reader)).toBe(WARNING);
    // What was found once costs no further read of git.
    const { answer, line } = await logged(() => open(repo, reader));
    expect(answer.headers.get("X-Gitea-Warning")).toBe(WARNING);
    expect([line.objectCalls, line.r2Calls]).toEqual([0, 0]);
    expect(line.d1Rounds).toBeLessThanOrEqual(3);
  });

  it.each([
    ["there are no templates", NO_BLANK],
    [
      "the configuration is invalid",
      { "ISSUE_TEMPLATE/a.md": BUG, ".gitea/ISSUE_TEMPLATE/config.yaml": "[]" },
    ],
    ["there is no configuration", { "ISSUE_TEMPLATE/a.md": BUG }],
  ])("causes no warning where %s", async (_, files) => {
    const { owner, repo } = await makePushed(files);
    expect(await warningOf(repo, owner)).toBeNull();
  });

  it("causes no warning in an empty repository, and for readers of the issues alone", async () => {
    const owner = await make.user();
    expect(await warningOf(await make.repo(owner), owner)).toBeNull();
    const { repo } = await makePushed({ ...NO_BLANK, "ISSUE_TEMPLATE/a.md": BUG });
    await disableCode(repo);
    expect(await warningOf(repo, await make.user())).toBeNull();
  });

  it("follows the next push", async () => {
    const { owner, repo } = await makePushed({ ...NO_BLANK, "ISSUE_TEMPLATE/a.md": BUG });
    expect(await warningOf(repo, owner)).toBe(WARNING);
    const path = pathOf(repo, "contents/.gitea/ISSUE_TEMPLATE/config.yaml");
    const { body } = await call("GET", path);
    const json = {
      sha: body.sha,
      message: "Allow them",
      content: btoa("blank_issues_enabled: true\n"),
    };
    expect((await call("PUT", path, { as: owner, json })).status).toBe(200);
    expect(await warningOf(repo, owner)).toBeNull();
  });
});

describe("GET /repos/{owner}/{repo}/issue_config", () => {
  const ask = async (text: string, name = ".gitea/ISSUE_TEMPLATE/config.yaml") => {
    const { repo } = await makePushed({ [name]: text });
    const config = await call("GET", pathOf(repo, "issue_config"));
    const validation = await call("GET", pathOf(repo, "issue_config/validate"));
    return [config.body, validation.body];
  };

  it("returns the contents of the configuration file", async () => {
    const link = { name: "Talk", url: "https://talk.example/a", about: "Questions" };
    const text = `blank_issues_enabled: false\ncontact_links:\n  - name: Talk\n    url: https://talk.example/a\n    about: Questions\n`;
    for (const name of [".gitea/ISSUE_TEMPLATE/config.yaml", ".github/issue_template/config.yml"]) {
      expect(await ask(text, name)).toEqual([
        { blank_issues_enabled: false, contact_links: [link] },
        { valid: true, message: "" },
      ]);
    }
    expect(await ask("")).toEqual([
      { blank_issues_enabled: true, contact_links: [] },
      { valid: true, message: "" },
    ]);
  });

  it.each([
    [
      "contact_links: [{name: a, url: 'https://a.example'}]",
      "contact_link at position 1 is missing about key",
    ],
    ["contact_links: [{name: a, url: b, about: c}]", "b is not a valid URL"],
    ["blank_issues_enabled: perhaps", "blank_issues_enabled: true or false is expected"],
    ["contact_links: [a]", "contact_links.0: a mapping is expected"],
    ["a: [", /^not YAML: /],
    ["[]", /must be an object/],
  ])("reports the error: %s", async (text, message) => {
    const [config, validation] = await ask(text);
    expect(config).toEqual({ blank_issues_enabled: true, contact_links: [] });
    expect(validation.valid).toBe(false);
    expect(validation.message).toMatch(message);
  });
});
