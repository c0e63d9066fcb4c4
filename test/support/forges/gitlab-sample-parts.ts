import type { Json } from "./gitlab-data.ts";

/** The id of the sample project. */
export const SAMPLE_ID = 42;

const NAMES = ["ada", "bo.li", "çelik", "ghost"] as const;
export const account = (name: (typeof NAMES)[number]): Json => ({
  id: NAMES.indexOf(name) + 101,
  username: name,
  name: name.toUpperCase(),
  state: name === "ghost" ? "deactivated" : "active",
  avatar_url: null,
});

/** A commit's id of 40 digits. */
export const oid = (digit: string): string => digit.repeat(40);

export const LABELS: Json[] = [
  label(1, "bug", "#D9534F", { description: "It does not work" }),
  label(2, "état::à faire", "#428bca"),
  label(3, "état::fait", "#5cb85c"),
  label(4, "kind::ui::web", "#fff"),
  label(5, "team/core", "#000000", { is_project_label: false, description: null }),
  label(6, "wontfix", "#cccccc", { archived: true }),
];

function label(id: number, name: string, color: string, more: Json = {}): Json {
  const description = "";
  return { id, name, color, text_color: "#FFFFFF", description, is_project_label: true, ...more };
}

export const award = (name: string, user: (typeof NAMES)[number], id = 1): Json => ({
  id,
  name,
  user: account(user),
  created_at: "2024-02-01T00:00:00.000Z",
});

/** A comment; the minute orders those of an issue. */
export function note(id: number, minute: number, more: Json = {}): Json {
  const at = `2024-03-01T08:${`${minute}`.padStart(2, "0")}:00.000Z`;
  return {
    id,
    type: null,
    body: `Note ${id}`,
    author: account("bo.li"),
    created_at: at,
    updated_at: at,
    system: false,
    internal: false,
    confidential: false,
    resolvable: false,
    ...more,
  };
}
