package service

import "github.com/interlock-harness/interlock/service/internal/postgres"

// Statements are the texts of the SQL statements that move jobs and attempts, by
// name and with arguments in the form @name, for who wants to measure them beside
// the service.
func Statements() map[string]string { return postgres.Statements() }
