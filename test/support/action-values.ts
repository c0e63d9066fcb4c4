import {
  actionSecrets,
  type ActionSecret,
  actionVariables,
  type ActionVariable,
  type Runner,
  runners,
} from "../../src/db/schema/index.ts";
import { only } from "../../src/lib/only.ts";
import { db } from "./db.ts";
import { freshName } from "./make.ts";

/** The columns of a level; without both, the service. */
export interface LevelRow {
  readonly repoId?: number;
  readonly ownerId?: number;
}

const freshValueName = (): string => freshName("N").toUpperCase().replaceAll("-", "_");

/** A secret whose value no key has sealed. */
export const makeActionSecret = async (level: LevelRow): Promise<ActionSecret> =>
  only(
    await db
      .insert(actionSecrets)
      .values({ ...level, name: freshValueName(), value: "1.none.", createdAt: 1, updatedAt: 1 })
      .returning(),
  );

export const makeActionVariable = async (
  level: LevelRow,
  fields: Partial<ActionVariable> = {},
): Promise<ActionVariable> =>
  only(
    await db
      .insert(actionVariables)
      .values({
        ...level,
        name: freshValueName(),
        value: "value",
        createdAt: 1,
        updatedAt: 1,
        ...fields,
      })
      .returning(),
  );

/** A runner that was seen shortly after 1970, and whose token nobody has. */
export const makeRunner = async (
  level: LevelRow,
  fields: Partial<Runner> = {},
): Promise<Runner> => {
  const name = freshName("runner");
  const row = { name, uuid: name, tokenHash: name, labels: ["linux"], lastOnlineAt: 1 };
  return only(
    await db
      .insert(runners)
      .values({ ...level, ...row, createdAt: 1, ...fields })
      .returning(),
  );
};
