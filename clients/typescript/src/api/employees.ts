/** Employees and their categories. */

import type { CallOptions, ChangeOptions, Core, UpdateOptions } from "../core.js";
import type {
  Category,
  CategoryWithCount,
  Employee,
  EmployeeErased,
  EmployeeStatus,
  EmployeeUpdate,
  EmployeeWithCards,
  NewEmployee,
} from "../models/generated.js";
import type { Id } from "../models/values.js";
import * as operations from "../operations.js";
import { everyRecord, listQuery, type Page, pageOf, type PageSize, type Paging } from "../pages.js";
import { as, employee, underData } from "../read.js";

/** Which employees to list. By default all. */
export interface EmployeeFilter {
  readonly status?: EmployeeStatus | undefined;
  readonly idCategory?: Id | undefined;
  readonly customId?: string | undefined;
  /** A text in surname, name or `customId`, letter case aside. */
  readonly q?: string | undefined;
}

/** An employee, and the version of it that was read. */
export interface TaggedEmployee {
  readonly employee: EmployeeWithCards;
  readonly etag: string | undefined;
}

/** Calls about employees. */
export class Employees {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Adds an employee. Rejects with `InvalidError`, which lists all faulty fields. */
  async add(added: NewEmployee, options?: ChangeOptions): Promise<Employee> {
    return employee(await this.#core.call(operations.EMPLOYEE_ADD, { ...options, body: added }));
  }

  /** Changes an employee. What is absent stays as it is, `null` empties a field. */
  async update(idEmployee: Id, update: EmployeeUpdate, options?: UpdateOptions): Promise<Employee> {
    return employee(await this.#core.call(operations.EMPLOYEE_UPDATE, { ...options, id: idEmployee, body: update }));
  }

  /** Erases an employee's personal data for good. They must have no card that is neither closed nor expired. */
  async erase(idEmployee: Id, options?: ChangeOptions): Promise<EmployeeErased> {
    return as(await this.#core.call(operations.EMPLOYEE_ERASE, { ...options, id: idEmployee }));
  }

  /** Reads an employee with their cards. */
  async get(idEmployee: Id, options?: CallOptions): Promise<EmployeeWithCards> {
    return employee<EmployeeWithCards>(underData(await this.#core.call(operations.EMPLOYEE_GET, { ...options, id: idEmployee })));
  }

  /** Reads an employee with their cards, and the version that `ifMatch` takes. */
  async getTagged(idEmployee: Id, options?: CallOptions): Promise<TaggedEmployee> {
    const { value, etag } = await this.#core.tagged(operations.EMPLOYEE_GET, { ...options, id: idEmployee });
    return { employee: employee<EmployeeWithCards>(underData(value)), etag };
  }

  /** Lists employees, the first added first. */
  async list(filter: EmployeeFilter & Paging = {}, options?: CallOptions): Promise<Page<Employee>> {
    const answer = await this.#core.call(operations.EMPLOYEE_LIST, { ...options, query: listQuery(filter) });
    return pageOf(answer, (item) => employee(item));
  }

  /** All employees, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(filter: EmployeeFilter & PageSize = {}, options?: CallOptions): AsyncGenerator<Employee, void, undefined> {
    const read = (paging: Paging) => this.list({ ...filter, ...paging }, options);
    return everyRecord(read, ({ idEmployee }) => idEmployee, filter.perPage);
  }
}

/** Calls about categories of employees. */
export class Categories {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Creates a category. Names have 1 to 128 characters and are unique, letter case aside. */
  async create(nameCategory: string, options?: ChangeOptions): Promise<Category> {
    return as(await this.#core.call(operations.CATEGORY_CREATE, { ...options, body: { nameCategory } }));
  }

  /** Renames a category. */
  async rename(idCategory: Id, nameCategory: string, options?: ChangeOptions): Promise<Category> {
    const parts = { ...options, id: idCategory, body: { nameCategory } };
    return as(await this.#core.call(operations.CATEGORY_RENAME, parts));
  }

  /** Deletes a category that no employee has, and gives what it was. */
  async delete(idCategory: Id, options?: ChangeOptions): Promise<Category> {
    return as(await this.#core.call(operations.CATEGORY_DELETE, { ...options, id: idCategory }));
  }

  /** Lists categories, the first created first. */
  async list(paging: Paging = {}, options?: CallOptions): Promise<Page<CategoryWithCount>> {
    const answer = await this.#core.call(operations.CATEGORY_LIST, { ...options, query: listQuery(paging) });
    return pageOf(answer, (item) => as(item));
  }

  /** All categories, read page by page as they are asked for; each once, whatever changes meanwhile. */
  all(options?: CallOptions): AsyncGenerator<CategoryWithCount, void, undefined> {
    return everyRecord((paging) => this.list(paging, options), ({ idCategory }) => idCategory);
  }
}
