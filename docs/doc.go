// Package docs is the guide. Its one test sees to it that no link in any page of the repository leads nowhere.
package docs
