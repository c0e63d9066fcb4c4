import { z } from "zod";

import { boundedList } from "../../lib/bounded.ts";
import { RemoteFailure } from "../../outgoing/remote-failure.ts";
import { flag, optionalLong, shortText } from "../fields.ts";
import type { ForeignLabel } from "../forge.ts";
import type { ReadPage } from "./project.ts";
import { Id } from "./shapes.ts";

const Label = z.object({
  id: Id,
  name: shortText,
  color: shortText,
  description: optionalLong,
  archived: flag,
});

/**
 * Reads labels of the project and of its groups. A label of a scope, `a::b`, is exclusive and named
 * `a/b` here.
 */
export const readLabels: ReadPage<ForeignLabel> = async ({ requests, root }, { page }) => {
  const { value, total, next } = await requests.get(
    `${root}/labels`,
    boundedList(Label, 100),
    // Groups' labels are used by issues like the project's own.
    { include_ancestor_groups: true, per_page: 100, page },
  );
  const items = value.map(({ id, name, color, description, archived }) => ({
    foreignId: String(id),
    name: name.replaceAll("::", "/"),
    color: sixDigits(color),
    description,
    isExclusive: /.::./s.test(name),
    isArchived: archived,
  }));
  return { items, total, next: next === undefined ? undefined : { page: page + 1 } };
};

/** @param color Such as `#d9534f` or `#fff`. */
function sixDigits(color: string): string {
  const [, long, short] = /^#(?:([0-9a-f]{6})|([0-9a-f]{3}))$/i.exec(color) ?? [];
  if (long !== undefined) return long.toLowerCase();
  if (short !== undefined) return short.toLowerCase().replaceAll(/./g, "$&$&");
  throw new RemoteFailure("protocol", "a label's colour is not what GitLab documents");
}
